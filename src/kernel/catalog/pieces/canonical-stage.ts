import type { TObject } from 'typebox';
import { defineStage, type NoFields, type StageSpec } from '../../stage/stage.js';
import { replaceableAnnotations } from './annotations.js';

/**
 * Declares a canonical stage. The host alone dispatches it; it is the source of the events, too, unless the row says otherwise. An
 * annotation field is replaceable in every stage that has it.
 */
export const canonicalStage: typeof defineStage = (row) => {
  const fields = row.annotations?.properties ?? {};
  const replaceable = replaceableAnnotations.filter((name) => name in fields);
  return defineStage({ emitter: 'host', emittedBy: 'host', replaceable, ...row });
};

/** Declares a canonical stage that handlers only watch, all at once. */
export const watchedStage = <const F extends string, P extends TObject>(
  row: Omit<
    StageSpec<F, 'observer', 'parallel', P, NoFields, NoFields, never, never, false, false, false>,
    'classes' | 'mode'
  >,
) => canonicalStage({ ...row, classes: ['observer'], mode: 'parallel' });
