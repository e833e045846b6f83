import type { Copy } from './copy.js';
import type { FieldMemory, Refusal } from './field.js';

/** What a merge is applied to: one slot of a dispatch. */
export interface MergeTarget extends FieldMemory {
  /** The value so far, frozen. Replaced, never written. */
  value: object;
  /** How to copy it; found at the first write. */
  copy: Copy | undefined;
  /** Whether the author of what is merged holds a field's grant. */
  granted(field: string): boolean;
  /** A write that came second to a first-defined field. */
  overruled(field: string): void;
}

/**
 * Applies a patch, or annotations, as a whole: every field by its law, or nothing (spec §6).
 *
 * @returns `true` where the slot's value changed or stayed, or why the whole is refused.
 */
export type Merge = (target: MergeTarget, written: object) => true | Refusal;
