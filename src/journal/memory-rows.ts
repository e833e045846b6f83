import { getOrMake } from 'sluice-kernel/internal';
import { defaultLimit, type JournalFilter } from './journal.js';

/** The fields of a row that a filter is compared with. */
export interface Judged {
  readonly id: string;
  readonly correlationId: string | undefined;
  readonly atMs: number;
  readonly fits: boolean;
}

interface Numbered {
  readonly seq: number;
}

/**
 * Rows in the order of their numbers. A row is found by halving. A row that is dropped leaves a gap, and the gaps are closed
 * when they are as many as the rows, so that the rows behind it are not moved each time.
 */
export class InOrder<Row extends Numbered> {
  #seqs: number[] = [];
  #rows: (Row | undefined)[] = [];
  /** All before it are gaps. */
  #first = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get rows(): Row[] {
    return this.#rows.filter((row) => row !== undefined);
  }

  /** Puts a row in its place, or in that of the row with its number. */
  set(row: Row): void {
    const at = this.#after(row.seq - 1);
    if (this.#seqs[at] !== row.seq) {
      this.#seqs.splice(at, 0, row.seq);
      this.#rows.splice(at, 0, undefined);
    }
    if (this.#rows[at] === undefined) this.#size++;
    this.#rows[at] = row;
    this.#first = Math.min(this.#first, at);
  }

  delete({ seq }: Row): void {
    const at = this.#after(seq - 1);
    if (this.#seqs[at] !== seq || this.#rows[at] === undefined) return;
    this.#rows[at] = undefined;
    this.#size--;
    while (this.#first < this.#rows.length && this.#rows[this.#first] === undefined) this.#first++;
    if (this.#size * 2 < this.#rows.length) this.#closeGaps();
  }

  /** Drops the oldest rows. */
  dropFirst(count: number): void {
    for (const row of this.rows.slice(0, count)) this.delete(row);
  }

  /** The rows that a filter fits. No row is looked at before `afterSeq`, or behind the last that is wanted. */
  chosen(filter: JournalFilter, judge: (row: Row) => Judged): Row[] {
    const { eventId, correlationId, sinceMs = Number.NEGATIVE_INFINITY } = filter;
    const { withinLast = Number.POSITIVE_INFINITY } = filter;
    const afterSeq = Math.max(filter.afterSeq ?? 0, (this.#seqs.at(-1) ?? 0) - withinLast);
    const most = Math.max(0, Math.trunc(filter.limit ?? defaultLimit));
    const fitting: Row[] = [];
    const from = Math.max(this.#first, this.#after(afterSeq));
    for (let at = from; at < this.#rows.length && fitting.length < most; at++) {
      const row = this.#rows[at];
      if (row === undefined) continue;
      const one = judge(row);
      const isOf =
        (eventId ?? one.id) === one.id &&
        (correlationId === undefined || correlationId === one.correlationId);
      if (isOf && one.fits && one.atMs >= sinceMs) fitting.push(row);
    }
    return fitting;
  }

  /** The place of the first row whose number is higher. */
  #after(seq: number): number {
    let from = 0;
    let to = this.#seqs.length;
    if ((this.#seqs[to - 1] ?? 0) <= seq) return to; // as a rule it is the last
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#seqs[middle] ?? 0) <= seq) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  #closeGaps(): void {
    const { rows } = this;
    this.#rows = rows;
    this.#seqs = rows.map(({ seq }) => seq);
    this.#first = 0;
  }
}

/** How rows are found. */
interface RowKeys<Row> {
  idOf(row: Row): string;
  /** Rows with the same value are read together; nothing if no filter asks for it. */
  groupOf(row: Row): string | undefined;
  isOpen(row: Row): boolean;
}

/** The rows of one kind, by their ids, by their groups, and those apart that are open. */
export class MemoryRows<Row extends Numbered> {
  readonly #keys: RowKeys<Row>;
  readonly #byId = new Map<string, Row>();
  readonly #all = new InOrder<Row>();
  readonly #open = new InOrder<Row>();
  readonly #groups = new Map<string, InOrder<Row>>();

  constructor(keys: RowKeys<Row>) {
    this.#keys = keys;
  }

  get(id: string): Row | undefined {
    return this.#byId.get(id);
  }

  values(): Iterable<Row> {
    return this.#byId.values();
  }

  /** Keeps a new row. @returns the row that has its id already: then nothing changes. */
  add(row: Row): Row | undefined {
    const known = this.#byId.get(this.#keys.idOf(row));
    if (known === undefined) this.set(row);
    return known;
  }

  /** Keeps a row, or what became of it. */
  set(row: Row): void {
    const id = this.#keys.idOf(row);
    const was = this.#byId.get(id);
    if (was !== undefined) this.#leave(was);
    this.#byId.set(id, row);
    this.#all.set(row);
    if (this.#keys.isOpen(row)) this.#open.set(row);
    const group = this.#keys.groupOf(row);
    if (group === undefined) return;
    getOrMake(this.#groups, group, () => new InOrder<Row>()).set(row);
  }

  /** Drops a row, if it is there. */
  delete(id: string): void {
    const row = this.#byId.get(id);
    if (row === undefined) return;
    this.#leave(row);
    this.#all.delete(row);
    this.#byId.delete(id);
  }

  /** The rows of one group, in their order. */
  inGroup(group: string): Row[] {
    return this.#groups.get(group)?.rows ?? [];
  }

  /**
   * The rows that a filter fits, of the fewest that are sure to hold them all.
   *
   * @param of.id the only one; `group` those of one group; `isOpen` those that are open.
   */
  chosen(
    filter: JournalFilter,
    of: {
      readonly id: string | undefined;
      readonly group: string | undefined;
      readonly isOpen: boolean;
    },
    judge: (row: Row) => Judged,
  ): Row[] {
    if (of.id !== undefined) {
      const only = new InOrder<Row>();
      const row = this.#byId.get(of.id);
      if (row !== undefined) only.set(row);
      return only.chosen(filter, judge);
    }
    if (of.group !== undefined) return this.#groups.get(of.group)?.chosen(filter, judge) ?? [];
    return (of.isOpen ? this.#open : this.#all).chosen(filter, judge);
  }

  #leave(row: Row): void {
    this.#open.delete(row);
    const group = this.#keys.groupOf(row);
    const others = group === undefined ? undefined : this.#groups.get(group);
    if (group === undefined || others === undefined) return;
    others.delete(row);
    if (others.size === 0) this.#groups.delete(group);
  }
}

/** Keeps the ids of what has ended, in the order of their ends. Of more than the limit the oldest is dropped. */
export function newest(limit: number, drop: (id: string) => void) {
  const ids = new Set<string>();
  /** It goes on behind the id that was dropped last, and does not meet the ids before that anew. */
  const oldestFirst = ids.values();
  return {
    add: (id: string): void => {
      ids.add(id);
      const { value: oldest } = ids.size <= limit ? {} : oldestFirst.next();
      if (oldest === undefined) return;
      ids.delete(oldest);
      drop(oldest);
    },
    delete: (id: string) => ids.delete(id),
  };
}
