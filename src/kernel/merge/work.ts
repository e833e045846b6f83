import type { Entry } from '../outcome/entry.js';
import type { Shape, ShapeFinder } from './copy.js';
import type { FieldState } from './laws.js';
import type { Merge, MergeTarget } from './merge.js';

/** A write that came second to a first-defined field; `at` is how much was written before. */
interface Overruled {
  readonly entry: Entry;
  readonly path: string;
  readonly at: number;
}

/** A record that was written key by key. */
export interface InnerWrite {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** How a stage merges patches, and the payloads that were patched. */
interface WorkMerges {
  readonly patch: Merge;
  readonly shapes: ShapeFinder;
}

/**
 * The payload as patches make it (spec §5.5, §6.5). The values are kept in an object that no handler gets: the one who reads gets
 * a copy, which is compared when the handler has returned. A copy that a second handler is to read is frozen.
 */
export class Work implements MergeTarget {
  readonly #emitted: object;
  /** Freezes each copy, so that a write throws where it is made. */
  readonly #isStrict: boolean;
  #values: Record<string, unknown> | undefined = undefined;
  #shape: Shape | undefined = undefined;
  /** The copy that was read since the last write. One handler alone has read it, unless it is frozen. */
  #shown: object | undefined = undefined;
  /** The copy that was read is frozen: each handler may read it. */
  isShared = false;
  #wasRead = false;
  #written: (Entry | string | InnerWrite)[] | undefined = undefined;
  overrulings: Overruled[] | undefined = undefined;
  states: Map<string, FieldState> | undefined = undefined;
  /** The patch that was merged last has changed a value. */
  isChanged = false;
  readonly merges: WorkMerges;
  /** The author of the patch that is merged. */
  entry: Entry;
  /** The call of the handler that runs, if one was made since the first patch. */
  reader: object | undefined = undefined;

  constructor(emitted: object, merges: WorkMerges, isStrict: boolean, entry: Entry) {
    this.#emitted = emitted;
    this.merges = merges;
    this.#isStrict = isStrict;
    this.entry = entry;
  }

  /** The values as they stand. Nobody outside may get them. */
  get value(): object {
    return this.#values ?? this.#emitted;
  }

  /** Pairs of who wrote and what, in order. */
  get written(): readonly (Entry | string | InnerWrite)[] {
    return this.#written ?? none;
  }

  /** The payload as it stands. A call that an earlier handler has kept gets a frozen copy. */
  shownTo(call: object): object {
    if (this.#values === undefined || this.#shape === undefined) return this.#emitted;
    const isReader = call === this.reader;
    if (this.#shown !== undefined && (isReader || this.isShared)) return this.#shown;
    const copy = this.#shape.copy(this.#values);
    if (!isReader) return Object.freeze(copy);
    this.isShared = this.#wasRead || this.#isStrict;
    this.#shown = this.isShared ? Object.freeze(copy) : copy;
    return this.#shown;
  }

  /** The payload as the patches have left it. Only once no patch can come any more. */
  get final(): object {
    return this.#values === undefined ? this.#emitted : Object.freeze(this.#values);
  }

  /** Returns whether the handler that has read it left it as it was. The next one does not get the same object, unless it is frozen. */
  get isIntact(): boolean {
    const shown = this.#shown;
    if (shown === undefined || this.isShared || this.#shape === undefined) return true;
    this.#shown = undefined;
    this.#wasRead = true;
    return this.#shape.isSame(shown, this.value);
  }

  /** Leaves what was read to the handler that has read it. */
  forget(): void {
    if (this.#shown === undefined || this.isShared) return;
    this.#shown = undefined;
    this.#wasRead = true;
  }

  open(): Record<string, unknown> {
    this.#shape ??= this.merges.shapes.of(this.value);
    this.#values ??= this.#shape.copy(this.#emitted);
    return this.#values;
  }

  wrote(field: string, before: unknown, inner: boolean): void {
    if (before === undefined) this.#shape = undefined; // it may be a new key
    const what = inner ? { field, before, after: this.#values?.[field] } : field;
    if (this.#written === undefined)
      this.#written = [this.entry, what]; // most payloads are written once
    else this.#written.push(this.entry, what);
  }

  commit(): void {
    this.#shape ??= this.merges.shapes.of(this.value);
    this.isChanged = true;
    this.#shown = undefined;
    this.isShared = false;
    this.#wasRead = false;
  }

  granted(field: string): boolean {
    return this.entry.traits.grants.includes(field);
  }

  overruled(path: string): void {
    (this.overrulings ??= []).push({ entry: this.entry, path, at: this.written.length });
  }
}

const none: readonly never[] = Object.freeze([]);
