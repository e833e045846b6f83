import { Compile } from 'typebox/compile';
import { Copier } from '../../merge/copy.js';
import { annotationFields, type Field, patchFields } from '../../merge/field.js';
import { canGenerateCode, generatedCopy, generatedMerge } from '../../merge/generated.js';
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
  const mergeOf = generate && canGenerateCode() ? generated : reference;
  const selection = stage.selection === undefined ? undefined : Compile(stage.selection);
  return {
    patch: mergeOf(patchFields(stage)),
    annotations: mergeOf(annotationFields(stage)),
    misfit: (target) => {
      if (selection === undefined || selection.Check(target)) return undefined;
      const error = selection.Errors(target)[0];
      return `${error?.instancePath || 'the target'} ${error?.message ?? 'does not fit the schema'}`;
    },
  };
}

const reference = (fields: readonly Field[]): Merge => referenceMerge(fields, new Copier());

const generated = (fields: readonly Field[]): Merge =>
  fields.length === 0 ? reference(fields) : generatedMerge(fields, new Copier(generatedCopy));
