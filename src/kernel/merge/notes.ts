import type { Entry } from '../outcome/entry.js';
import type { FieldState } from './laws.js';
import type { MergeTarget } from './merge.js';

/** The annotations of a dispatch, as a merge writes them. Each version is frozen. */
export class Notes implements MergeTarget {
  value: object;
  #next: Record<string, unknown> | undefined = undefined;
  states: Map<string, FieldState> | undefined = undefined;
  /** The author of the annotations that are merged. */
  entry: Entry;

  constructor(value: object, entry: Entry) {
    this.value = value;
    this.entry = entry;
  }

  open(): Record<string, unknown> {
    this.#next ??= { ...this.value };
    return this.#next;
  }

  commit(): void {
    if (this.#next !== undefined) this.value = Object.freeze(this.#next);
    this.#next = undefined;
  }

  wrote(): void {
    // nobody asks who wrote an annotation
  }

  granted(field: string): boolean {
    return this.entry.traits.grants.includes(field);
  }

  overruled(): void {
    // no annotation has the law first-defined
  }
}
