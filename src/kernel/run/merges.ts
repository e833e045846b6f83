import { Compile } from 'typebox/compile';
import { Copier } from '../merge/copy.js';
import { annotationFields, patchFields } from '../merge/field.js';
import { compileMerge } from '../merge/merge.js';
import type { Stage } from '../stage.js';
import type { StageMerges } from './services.js';

/** Compiles what a stage does with patches, annotations and candidates. */
export function compileMerges(stage: Stage, generate: boolean): StageMerges {
  const selection = stage.selection === undefined ? undefined : Compile(stage.selection);
  return {
    patch: compileMerge(patchFields(stage), new Copier(generate), generate),
    annotations: compileMerge(annotationFields(stage), new Copier(generate), generate),
    misfit: (target) => {
      if (selection === undefined || selection.Check(target)) return undefined;
      const error = selection.Errors(target)[0];
      return `${error?.instancePath || 'the target'} ${error?.message ?? 'does not fit the schema'}`;
    },
  };
}
