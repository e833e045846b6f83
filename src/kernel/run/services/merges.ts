import { Shapes } from '../../merge/copy.js';
import { annotationFields, type Field, patchFields } from '../../merge/field.js';
import { canGenerateCode, generatedMerge, generatedShape } from '../../merge/generated.js';
import type { Merge } from '../../merge/merge.js';
import { referenceMerge } from '../../merge/reference.js';
import { compileCheck } from '../../schema/check.js';
import { isStandard, standardCheck } from '../../schema/standard.js';
import type { Stage } from '../../stage/stage.js';
import type { StageMerges } from './services.js';

/**
 * Compiles what a stage does with patches, annotations and candidates.
 *
 * @param generate uses generated code, if the process allows it; the reference merges serve otherwise.
 */
export function compileMerges(stage: Stage, generate: boolean): StageMerges {
  const mayGenerate = generate && canGenerateCode();
  const mergeOf = mayGenerate ? generated : referenceMerge;
  const whole = stage.standard === undefined ? undefined : standardCheck(stage.standard);
  const { selection = {} } = stage;
  const misfitOf = isStandard(selection) ? standardCheck(selection) : compileCheck(selection);
  return {
    patch:
      whole === undefined ? mergeOf(patchFields(stage)) : referenceMerge(patchFields(stage), whole),
    annotations: mergeOf(annotationFields(stage)),
    shapes: new Shapes(mayGenerate ? generatedShape : undefined),
    misfit: (target) => {
      const misfit = misfitOf(target);
      return misfit && `${misfit.path || 'the target'} ${misfit.problem}`;
    },
  };
}

const generated = (fields: readonly Field[]): Merge =>
  fields.length === 0 ? referenceMerge(fields) : generatedMerge(fields);
