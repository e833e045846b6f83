import type { FieldMemory, Refusal } from './field.js';

/** The target of a merge: the payload or the annotations of a dispatch. */
export interface MergeTarget extends FieldMemory {
  /** The value so far. */
  readonly value: object;
  /** Returns whether the author of what is merged holds a field's grant. */
  granted(field: string): boolean;
  /** A write that came second to a first-defined field. */
  overruled(field: string): void;
  /** The value to write into, once everything is accepted. It is nobody's but the dispatch's. */
  open(): Record<string, unknown>;
  /** A field was written; `inner`, if it was written key by key. */
  wrote(field: string, before: unknown, inner: boolean): void;
  /** The whole has been written. */
  commit(): void;
}

/**
 * Applies a patch, or annotations, as a whole: every field by its law, or nothing (spec §6).
 *
 * @returns `true` where the target's value changed or stayed, or why the whole is refused.
 */
export type Merge = (target: MergeTarget, written: object) => true | Refusal;
