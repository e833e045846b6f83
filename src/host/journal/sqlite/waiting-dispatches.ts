import type { Clock, TimerHandle } from '../../../kernel/index.js';
import type { SqliteDatabase } from '../../sqlite/open-sqlite.js';
import type { CleanText } from '../clean-body.js';
import type { Passenger, PassengerRoom } from '../commit/transactions.js';
import type { JournalStats, NewDispatch } from '../journal.js';
import { dispatchesTable } from '../rows/journal-rows.js';
import { type TableRows, tableRows } from '../rows/table-rows.js';

/** Milliseconds that a dispatch may wait if nothing else is written. */
const longestWaitMs = 100;

/** Characters that may wait. Dispatches beyond are counted, and not kept. */
const mostCharacters = 64 * 1024 * 1024;

/**
 * Dispatches that wait to be written. They go along with the next transaction, never hold anything up, and are given up
 * first.
 */
export class WaitingDispatches implements Passenger {
  readonly #rows: TableRows;
  readonly #clock: Clock;
  readonly #onDue: () => void;
  #waiting: NewDispatch[] = [];
  #characters = 0;
  /** The number of the first dispatches that are in the transaction under way. */
  #inHand = 0;
  #isClosed = false;
  #due: TimerHandle | undefined;
  #kept = 0;
  #dropped = 0;

  /** @param onDue is called to write them. */
  constructor(database: SqliteDatabase, clock: Clock, onDue: () => void, clean?: CleanText) {
    this.#rows = tableRows(database, dispatchesTable, clean);
    this.#clock = clock;
    this.#onDue = onDue;
  }

  add(dispatch: NewDispatch): void {
    const { length } = dispatch.body;
    if (this.#isClosed || this.#characters + length > mostCharacters) {
      this.#dropped++;
      return;
    }
    this.#characters += length;
    this.#waiting.push(dispatch);
    if (this.#due !== undefined) return;
    this.#due = this.#clock.setTimeout(() => {
      this.#due = undefined;
      this.#onDue();
    }, longestWaitMs);
    this.#due.unref?.();
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

  waits(): boolean {
    return this.#waiting.length > 0;
  }

  write({ characters, isSpent }: PassengerRoom): void {
    let written = 0;
    this.#inHand = 0; // a transaction before this one may have been rolled back
    for (const one of this.#waiting) {
      written += one.body.length;
      if (this.#inHand > 0 && (written > characters || isSpent())) return;
      this.#rows.add(dispatchesTable.row({ ...one }));
      this.#inHand++;
    }
  }

  written(isKept: boolean): void {
    if (!isKept && this.#inHand === 0) this.#inHand = this.#waiting.length; // the database takes nothing at all
    const gone = this.#waiting.splice(0, this.#inHand);
    this.#inHand = 0;
    for (const { body } of gone) this.#characters -= body.length;
    if (isKept) this.#kept += gone.length;
    else this.#dropped += gone.length;
  }

  drop(): void {
    this.#inHand = this.#waiting.length;
    this.written(false);
  }
}
