import type { ObjectSchema } from '../../schema/schema.js';
import type { AnySpec } from '../../stage/check-stage.js';
import { type defineStage, rowOf } from '../../stage/define-stage.js';
import type { NoFields, StageSpec } from '../../stage/stage.js';
import type { ExecutionMode, HandlerClass } from '../../stage/vocabulary.js';
import { replaceableAnnotations } from './annotations.js';

/**
 * Declares a canonical stage. The host alone dispatches it; it is the source of the events, too, unless the row says otherwise. An
 * annotation field is replaceable in every stage that has it.
 */
export const canonicalStage: typeof defineStage = (given: object): never => {
  const row = given as AnySpec; // its columns were joined by the types of `defineStage`
  const fields = row.annotations?.properties ?? {};
  const replaceable = replaceableAnnotations.filter((name) => name in fields);
  return rowOf({ emitter: 'host', emittedBy: 'host', replaceable, ...row }) as never; // which also name its stage
};

/** Makes a function that declares stages of these classes and this mode, which have no patch, selection or veto. */
const canonicalStageOf =
  <const C extends HandlerClass, const M extends ExecutionMode>(classes: readonly C[], mode: M) =>
  <
    const F extends string,
    P extends ObjectSchema,
    A extends ObjectSchema = NoFields,
    U extends boolean = false,
  >(
    row: Omit<
      StageSpec<F, C, M, P, NoFields, A, never, never, false, U, false>,
      'classes' | 'mode'
    >,
  ) =>
    canonicalStage({ ...row, classes, mode });

/** Declares a canonical stage that handlers only watch, all at once. */
export const watchedStage = canonicalStageOf(['observer'], 'parallel');

/** Declares a canonical stage that handlers watch and annotate, one after the other. */
export const annotatedStage = canonicalStageOf(['observer', 'augmenter'], 'sequential');

/** The budgets of a stage that the host must not wait for long. */
export const briefly = { timeoutMs: 5_000, stageTimeoutMs: 5_000 } as const;

/** The budgets of a stage whose handlers may store much. */
export const atLength = { timeoutMs: 30_000, stageTimeoutMs: 60_000 } as const;
