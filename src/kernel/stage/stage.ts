import type { ObjectSchema, Schema } from '../schema/schema.js';
import type { StandardSchema } from '../schema/standard.js';
import type { ValueOf } from './named.js';
import type {
  ApprovalCode,
  EmissionSource,
  Emitter,
  ExecutionMode,
  FailPolicy,
  HandlerClass,
  PatchLaw,
  PatchLawSpec,
} from './vocabulary.js';

/** A schema of an object without fields: what a stage has where it declares no patch or annotations. */
export type NoFields = ObjectSchema<Record<never, never>>;

/** Milliseconds a handler may take where neither its stage nor its contribution says otherwise. */
export const defaultTimeoutMs = 15_000;

/** Milliseconds a whole dispatch may take where its stage does not say otherwise. */
export const defaultStageTimeoutMs = 30_000;

/** A stage's notice that it will go (spec §12). */
export interface Deprecation {
  /** The version that deprecated it. */
  readonly since: string;
  /** The family to use instead. */
  readonly use: string;
  /** The version that removes it, where that is known. */
  readonly removeAfter?: string;
}

/**
 * One row of the catalog: everything the kernel knows about a family (spec §2).
 * Adding a family is adding a row; no function goes with it.
 */
export interface StageSpec<
  F extends string,
  C extends HandlerClass,
  M extends ExecutionMode,
  P extends ObjectSchema,
  Q extends ObjectSchema,
  A extends ObjectSchema,
  S extends Schema | StandardSchema,
  K extends string,
  R extends boolean,
  U extends boolean,
  B extends boolean,
> {
  /** The family's name: lower case, dotted. */
  readonly family: F;
  /** The handler classes this stage allows. */
  readonly classes: readonly C[];
  /** How handlers are called. */
  readonly mode: M;
  /** The schema of the payload. */
  readonly payload: P;
  /** The schema of a mutator's patch: optional fields, each of them a field of the payload. */
  readonly patch?: Q;
  /** The named law of each patch field; `replace` where none is named. */
  readonly laws?: { readonly [Field in keyof ValueOf<Q>]?: PatchLawSpec };
  /** Patch fields that only an extension granted `family:field` may set. */
  readonly trusted?: readonly (keyof ValueOf<Q> & string)[];
  /** Payload fields that pass by reference: neither frozen nor copied, and not to be written. */
  readonly shared?: readonly (keyof ValueOf<P> & string)[];
  /** The schema of an augmenter's annotations: optional fields. Lists append. */
  readonly annotations?: A;
  /** Annotation fields for which the last writer wins. On any other the first stands. */
  readonly replaceable?: readonly (keyof ValueOf<A> & string)[];
  /** The schema of a resolver's target. */
  readonly selection?: S;
  /** Says that the payload already names its target: resolvers are then not called (spec §9). */
  readonly settled?: (payload: ValueOf<P>) => boolean;
  /** The codes a veto may cancel with. `other` is always one. */
  readonly cancelCodes?: readonly K[];
  /** A cancel may carry a reply, which the host sends to the sender of the message (spec §8.6). `false` if absent. */
  readonly cancelReplies?: R;
  /** Handlers see on whose behalf it is dispatched: `call.principal` (judgement §1.3). `false` if absent. */
  readonly principal?: U;
  /** A veto may ask a human; the cancel codes of questions are then declared (judgement §4.1). `false` if absent. */
  readonly asks?: B;
  /** Says of a payload that it is a question itself: a veto cannot ask about it. */
  readonly isQuestion?: (payload: ValueOf<P>) => boolean;
  /** The effect of a failure, per class; by default `open`. */
  readonly onError?: { readonly [Class in C]?: FailPolicy };
  /** Milliseconds one handler may take. */
  readonly timeoutMs?: number;
  /** Milliseconds a whole dispatch may take. */
  readonly stageTimeoutMs?: number;
  /** On a hot path: dispatched per delta or per transcript write. */
  readonly hotPath?: boolean;
  /** The purpose of the stage, in one sentence. */
  readonly purpose?: string;
  /** The source of its events; by default `extension`. A host without that source never dispatches the family. */
  readonly emittedBy?: EmissionSource;
  /** When it is dispatched: `before every send`. */
  readonly emittedWhen?: string;
  /**
   * The one who may dispatch it: `anyone`, by default, or the `host` alone. A handler's `own.dispatch` of what is the host's needs
   * the grant `dispatch:family` (spec §12.5).
   */
  readonly emitter?: Emitter;
  /** The version of this row's payload and rules. */
  readonly version?: number;
  readonly deprecated?: Deprecation;
}

/** A defined stage: its row, checked and with every column filled in. Frozen. */
export interface Stage<
  F extends string = string,
  C extends HandlerClass = HandlerClass,
  M extends ExecutionMode = ExecutionMode,
  P extends ObjectSchema = ObjectSchema,
  Q extends ObjectSchema = ObjectSchema,
  A extends ObjectSchema = ObjectSchema,
  S extends Schema | StandardSchema = Schema | StandardSchema,
  K extends string = string,
  R extends boolean = boolean,
  U extends boolean = boolean,
  B extends boolean = boolean,
> {
  readonly family: F;
  readonly classes: readonly C[];
  readonly mode: M;
  /** The fields as JSON Schema: of a Standard Schema, as far as its row or the schema itself tells of them. */
  readonly payload: P;
  /** The schema that payloads are checked with, if another than `payload`. */
  readonly standard: StandardSchema | undefined;
  readonly patch: Q | undefined;
  readonly laws: Readonly<Record<string, { readonly law: PatchLaw; readonly separator: string }>>;
  readonly trusted: readonly string[];
  readonly shared: readonly string[];
  readonly annotations: A | undefined;
  readonly replaceable: readonly string[];
  readonly selection: S | undefined;
  readonly settled: ((payload: never) => boolean) | undefined;
  readonly cancelCodes: readonly (K | 'other' | (B extends true ? ApprovalCode : never))[];
  readonly cancelReplies: R;
  readonly principal: U;
  readonly asks: B;
  readonly isQuestion: ((payload: never) => boolean) | undefined;
  readonly onError: Readonly<Record<HandlerClass, FailPolicy>>;
  readonly timeoutMs: number;
  readonly stageTimeoutMs: number;
  readonly hotPath: boolean;
  readonly purpose: string;
  readonly emittedBy: EmissionSource;
  readonly emittedWhen: string;
  readonly emitter: Emitter;
  readonly version: number;
  readonly deprecated: Deprecation | undefined;
}

/** Returns whether a stage judges what may be shown before it is whole: its payload says `streaming`. */
export function judgesStreams(stage: Stage): boolean {
  return Object.hasOwn(stage.payload.properties, 'streaming');
}
