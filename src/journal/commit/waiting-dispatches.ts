import { type Clock, Timer } from 'sluice-kernel/internal';
import type { NewDispatch } from '../journal.js';
import type { JournalStats } from '../journal-counts.js';
import type { RecordChain } from '../record/record-chain.js';
import type { CleanText } from '../rows/clean-body.js';
import type { Passenger, PassengerRoom } from './transactions.js';

/** Milliseconds that a dispatch may wait if nothing else is written. */
const longestWaitMs = 100;

/** Milliseconds that dispatches wait for others of their message before they go along with a write, unless there are many. */
const aloneMs = 50;
const manyCharacters = 128 * 1024;

/** Characters that may wait. Dispatches beyond are counted, and not persisted. */
const mostCharacters = 64 * 1024 * 1024;

/** Dispatches that are looked at together, and the characters of a row that holds several. */
const mostTogether = 512;
const mostOfRow = 256 * 1024;

/** Adds dispatches of one message within a transaction, in their order; at least one. */
export type AddDispatches = (dispatches: readonly NewDispatch[]) => void;

/**
 * Dispatches that wait to be written. They go along with the next transaction, never block anything, and are given up
 * first.
 */
export class WaitingDispatches implements Passenger {
  readonly #addRow: AddDispatches;
  readonly #clean: CleanText;
  readonly #clock: Clock;
  readonly #onDue: () => void;
  readonly #chain: RecordChain | undefined;
  #waiting: NewDispatch[] = [];
  #characters = 0;
  /** The time since which some wait. */
  #sinceMs = 0;
  /** The number of the first dispatches that are in the transaction under way. */
  #active = 0;
  #isClosed = false;
  readonly #due: Timer;
  #kept = 0;
  #dropped = 0;
  /** Those among them that no record of the journal tells of yet. */
  #untold = 0;

  /**
   * @param onDue is called to write them.
   * @param chain learns when a transaction begins and ends, if the journal proves its records: `addRow` links them.
   */
  constructor(
    addRow: AddDispatches,
    clock: Clock,
    onDue: () => void,
    clean: CleanText,
    chain?: RecordChain,
  ) {
    this.#addRow = addRow;
    this.#clean = clean;
    this.#clock = clock;
    this.#onDue = onDue;
    this.#chain = chain;
    this.#due = new Timer(clock);
  }

  add(dispatch: NewDispatch): void {
    const { length } = dispatch.body;
    if (this.#isClosed || this.#characters + length > mostCharacters) {
      this.#lose(1);
      return;
    }
    if (this.#waiting.length === 0) {
      this.#sinceMs = this.#clock.monotonicMs();
      this.#due.setIdly(longestWaitMs, this.#onDue);
    }
    if (this.#untold > 0) this.#reportLost();
    this.#characters += length;
    this.#waiting.push(dispatch);
  }

  /** Takes no more. */
  close(): void {
    this.#isClosed = true;
  }

  stats(): Pick<JournalStats, 'dispatches' | 'dispatchesDropped' | 'charactersWaiting'> {
    return {
      dispatches: this.#kept,
      dispatchesDropped: this.#dropped,
      charactersWaiting: this.#characters,
    };
  }

  waits(isAlong: boolean): boolean {
    if (this.#waiting.length === 0 || !isAlong) return this.#waiting.length > 0;
    const isMany = this.#characters >= manyCharacters;
    return isMany || this.#clock.monotonicMs() - this.#sinceMs >= aloneMs;
  }

  write({ characters, isSpent }: PassengerRoom): void {
    let written = 0;
    this.#chain?.begin();
    this.#active = 0; // if it is not, that transaction was rolled back, and nobody has called `written`
    while (this.#active < this.#waiting.length && !(this.#active > 0 && isSpent())) {
      const from = this.#active;
      for (const one of this.#waiting.slice(from, from + mostTogether)) {
        written += one.body.length;
        if (this.#active > 0 && written > characters) break;
        this.#active++;
      }
      if (this.#active === from) return;
      this.#writeByMessage(this.#waiting.slice(from, this.#active));
    }
  }

  /** The dispatches of one message share a row (durability §4.7). */
  #writeByMessage(dispatches: readonly NewDispatch[]): void {
    const groups = new Map<string, { of: NewDispatch[]; characters: number }>();
    for (const one of dispatches) {
      const { correlationId, body, omitted } = one;
      if (omitted === 'gap') {
        for (const { of } of groups.values()) this.#add(of);
        groups.clear(); // what comes behind it is not written before it
      }
      const known = groups.get(correlationId);
      if (known !== undefined && known.characters + body.length <= mostOfRow) {
        known.of.push(one);
        known.characters += body.length;
        continue;
      }
      if (known !== undefined) this.#add(known.of);
      groups.set(correlationId, { of: [one], characters: body.length });
    }
    for (const { of } of groups.values()) this.#add(of);
  }

  #add(given: readonly NewDispatch[]): void {
    const clean = given.map((one) => {
      const body = this.#clean(one.body);
      return body === one.body ? one : { ...one, body };
    });
    this.#addRow(clean);
  }

  written(isPersisted: boolean): void {
    this.#chain?.settle(isPersisted);
    if (!isPersisted && this.#active === 0) this.#active = this.#waiting.length; // the database takes nothing at all
    const gone = this.#waiting.splice(0, this.#active);
    this.#active = 0;
    for (const { body } of gone) this.#characters -= body.length;
    const gaps = gone.filter(({ omitted }) => omitted === 'gap');
    if (isPersisted) {
      this.#kept += gone.length - gaps.length;
      return;
    }
    this.#lose(gone.length - gaps.length);
    for (const gap of gaps) this.#untold += countOf(gap);
  }

  #lose(count: number): void {
    this.#dropped += count;
    this.#untold += count;
  }

  /** Keeps how many were lost, in their place. */
  #reportLost(): void {
    const gap = gapRow(this.#untold, this.#clock.now());
    this.#untold = 0;
    this.#characters += gap.body.length;
    this.#waiting.push(gap);
  }

  drop(): void {
    this.#active = this.#waiting.length;
    this.written(false);
  }
}

/** The record in the place of others that could not be written (sight §2.1). */
function gapRow(count: number, atMs: number): NewDispatch {
  const kind = 'gap';
  const entry = { kind, id: `gap-${atMs}`, correlationId: '', atMs, count, why: 'dropped' };
  return {
    ...{ eventId: entry.id, family: kind, correlationId: '', sessionId: null, status: 'passed' },
    ...{ occurredAtMs: atMs, omitted: kind, body: JSON.stringify(entry) },
  };
}

/** The number of records in whose place a gap stands. */
function countOf({ body }: NewDispatch): number {
  const { count }: { readonly count?: unknown } = JSON.parse(body);
  return Number(count);
}
