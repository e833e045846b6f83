import { Compile } from 'typebox/compile';
import { Shapes } from '../../merge/copy.js';
import { annotationFields, type Field, patchFields } from '../../merge/field.js';
import { canGenerateCode, generatedMerge, generatedShape } from '../../merge/generated.js';
import type { Merge } from '../../merge/merge.js';
import { referenceMerge } from '../../merge/reference.js';
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
  const selection = stage.selection === undefined ? undefined : Compile(stage.selection);
  return {
    patch: mergeOf(patchFields(stage)),
    annotations: mergeOf(annotationFields(stage)),
    shapes: new Shapes(mayGenerate ? generatedShape : undefined),
    misfit: (target) => {
      if (selection === undefined || selection.Check(target)) return undefined;
      const error = selection.Errors(target)[0];
      return `${error?.instancePath || 'the target'} ${error?.message ?? 'does not fit the schema'}`;
    },
  };
}

const generated = (fields: readonly Field[]): Merge =>
  fields.length === 0 ? referenceMerge(fields) : generatedMerge(fields);
