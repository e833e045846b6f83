import type { ObjectSchema, Schema } from '../schema/schema.js';
import { isStandard, type StandardSchema } from '../schema/standard.js';
import { type AnySpec, checkStage, refusalOf } from './check-stage.js';
import type { Named } from './named.js';
import { columnsOf, type OwnStageSpec } from './own-stage.js';
import {
  defaultStageTimeoutMs,
  defaultTimeoutMs,
  type NoFields,
  type Stage,
  type StageSpec,
} from './stage.js';
import {
  approvalCodes,
  type ExecutionMode,
  type HandlerClass,
  type PatchLaw,
  type PatchLawSpec,
} from './vocabulary.js';

/**
 * Declares a stage. The row is checked here, once, so that a mistake in a column is found when it is
 * written, not when a message comes by. The payload has a Standard Schema, such as one of zod, or a JSON Schema.
 *
 * @throws SluiceError `bad-stage`, naming the family and the column.
 * @example
 * const billingChecking = defineStage({
 *   family: 'acme.billing.checking',
 *   classes: ['observer', 'mutator', 'veto'],
 *   mode: 'sequential',
 *   payload: z.object({ amountCents: z.int(), note: z.string() }),
 *   sample: { amountCents: 1200, note: 'tea' },
 *   laws: { note: 'append-text' },
 *   cancelCodes: ['over-budget'],
 * });
 */
export function defineStage<
  const F extends string,
  const C extends HandlerClass,
  const M extends ExecutionMode,
  O extends object,
  const L extends { readonly [Field in keyof O]?: PatchLawSpec } = Record<never, never>,
  const A extends ObjectSchema = NoFields,
  const S extends Schema | StandardSchema = never,
  const K extends string = never,
  const R extends boolean = false,
  const U extends boolean = false,
  const B extends boolean = false,
>(
  spec: OwnStageSpec<F, C, M, O, L, A, S, K, R, U, B>,
): Stage<F, C, M, Named<O>, Named<Partial<Pick<O, keyof L & keyof O>>>, A, S, K, R, U, B>;
export function defineStage<
  const F extends string,
  const C extends HandlerClass,
  const M extends ExecutionMode,
  P extends ObjectSchema,
  Q extends ObjectSchema = NoFields,
  A extends ObjectSchema = NoFields,
  S extends Schema | StandardSchema = never,
  const K extends string = never,
  const R extends boolean = false,
  const U extends boolean = false,
  const B extends boolean = false,
>(spec: StageSpec<F, C, M, P, Q, A, S, K, R, U, B>): Stage<F, C, M, P, Q, A, S, K, R, U, B>;
export function defineStage(given: object): object {
  const refuse = refusalOf(given);
  const { payload } = Object(given);
  return isStandard(payload)
    ? checkedRow({ ...given, ...columnsOf(given, refuse) }, payload)
    : checkedRow(given);
}

function checkedRow(given: object, standard?: StandardSchema): Stage {
  checkStage(given);
  return rowOf(given as AnySpec, standard); // it was checked
}

/**
 * Fills a row in, and does not check it: the rows of the catalog are checked by a test.
 *
 * @param standard the schema that payloads are checked with, if another than that of the row.
 */
export function rowOf(spec: AnySpec, standard?: StandardSchema): Stage {
  const laws: Record<string, { law: PatchLaw; separator: string }> = {};
  for (const field of Object.keys(spec.patch?.properties ?? {})) {
    const given = spec.laws?.[field] ?? 'replace';
    const law = typeof given === 'string' ? { law: given } : given;
    laws[field] = { separator: '\n\n', ...law };
  }
  return Object.freeze({
    family: spec.family,
    classes: Object.freeze([...spec.classes]),
    mode: spec.mode,
    payload: spec.payload,
    standard,
    patch: spec.patch,
    laws: Object.freeze(laws),
    trusted: Object.freeze([...(spec.trusted ?? [])]),
    shared: Object.freeze([...(spec.shared ?? [])]),
    annotations: spec.annotations,
    replaceable: Object.freeze([...(spec.replaceable ?? [])]),
    selection: spec.selection,
    settled: spec.settled,
    cancelCodes: Object.freeze([
      ...(spec.cancelCodes ?? []),
      ...(spec.asks === true ? approvalCodes : []),
      'other',
    ]),
    cancelReplies: spec.cancelReplies ?? false,
    principal: spec.principal ?? false,
    asks: spec.asks ?? false,
    isQuestion: spec.isQuestion,
    onError: Object.freeze({
      observer: 'open',
      augmenter: 'open',
      mutator: 'open',
      veto: 'open',
      resolver: 'open',
      ...spec.onError,
    }),
    timeoutMs: spec.timeoutMs ?? defaultTimeoutMs,
    stageTimeoutMs: spec.stageTimeoutMs ?? defaultStageTimeoutMs,
    hotPath: spec.hotPath ?? false,
    purpose: spec.purpose ?? '',
    emittedBy: spec.emittedBy ?? 'extension',
    emittedWhen: spec.emittedWhen ?? '',
    emitter: spec.emitter ?? 'anyone',
    version: spec.version ?? 1,
    deprecated: spec.deprecated,
  });
}
