import { plainShapes, type ShapeFinder } from '../../merge/copy.js';
import { annotationFields, type Field, patchFields } from '../../merge/field.js';
import type { Merge } from '../../merge/merge.js';
import { referenceMerge } from '../../merge/reference.js';
import { compileCheck } from '../../schema/check.js';
import { isStandard, standardCheck } from '../../schema/standard.js';
import type { Stage } from '../../stage/stage.js';
import type { StageMerges } from './services.js';

/** Makes merges and shapes as code. */
export interface CodeMaker {
  readonly canGenerateCode: () => boolean;
  readonly generatedMerge: (fields: readonly Field[]) => Merge;
  readonly generatedShapes: () => ShapeFinder;
}

/**
 * Compiles what a stage does with patches, annotations and candidates.
 *
 * @param maker is used if the process allows generated code; the reference merges serve otherwise.
 */
export function compileMerges(stage: Stage, maker: CodeMaker | undefined): StageMerges {
  const code = maker?.canGenerateCode() === true ? maker : undefined;
  const mergeOf = (fields: readonly Field[]): Merge =>
    (fields.length === 0 ? undefined : code?.generatedMerge(fields)) ?? referenceMerge(fields);
  const whole = stage.standard === undefined ? undefined : standardCheck(stage.standard);
  const { selection = {} } = stage;
  const misfitOf = isStandard(selection) ? standardCheck(selection) : compileCheck(selection);
  return {
    patch:
      whole === undefined ? mergeOf(patchFields(stage)) : referenceMerge(patchFields(stage), whole),
    annotations: mergeOf(annotationFields(stage)),
    shapes: code?.generatedShapes() ?? plainShapes,
    misfit: (target) => {
      const misfit = misfitOf(target);
      return misfit && `${misfit.path || 'the target'} ${misfit.problem}`;
    },
  };
}
