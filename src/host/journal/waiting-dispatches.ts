import type { Clock, TimerHandle } from '../../kernel/index.js';
import type { SqliteDatabase } from '../sqlite/open-sqlite.js';
import type { Passenger } from './group-commit.js';
import type { JournalStats, NewDispatch } from './journal.js';
import { dispatchesTable } from './journal-rows.js';
import { type TableRows, tableRows } from './table-rows.js';

/** Milliseconds that a dispatch may wait where nothing else is written. */
const longestWaitMs = 100;

/** Characters that may wait. What comes beyond is counted, and not kept. */
const mostCharacters = 64 * 1024 * 1024;

/**
 * Dispatches that wait to be written. They go along with the next transaction; they never hold up anything, and they are
 * what is given up first.
 */
export class WaitingDispatches implements Passenger {
  readonly #database: SqliteDatabase;
  readonly #rows: TableRows;
  readonly #clock: Clock;
  readonly #onDue: () => void;
  #waiting: NewDispatch[] = [];
  #characters = 0;
  #due: TimerHandle | undefined;
  #kept = 0;
  #dropped = 0;

  /** @param onDue is to write them. */
  constructor(database: SqliteDatabase, clock: Clock, onDue: () => void) {
    this.#database = database;
    this.#rows = tableRows(database, dispatchesTable);
    this.#clock = clock;
    this.#onDue = onDue;
  }

  add(dispatch: NewDispatch): void {
    if (!this.#database.isOpen || this.#characters + dispatch.body.length > mostCharacters) {
      this.#dropped++;
      return;
    }
    this.#characters += dispatch.body.length;
    this.#waiting.push(dispatch);
    if (this.#due !== undefined) return;
    this.#due = this.#clock.setTimeout(this.#onDue, longestWaitMs);
    this.#due.unref?.();
  }

  stats(): Pick<JournalStats, 'dispatches' | 'dispatchesDropped'> {
    return { dispatches: this.#kept, dispatchesDropped: this.#dropped };
  }

  waits(): boolean {
    return this.#waiting.length > 0;
  }

  write(): void {
    for (const one of this.#waiting) {
      const { eventId, family, correlationId, sessionId, status, occurredAtMs, omitted, body } =
        one;
      this.#rows.add({
        event_id: eventId,
        family,
        correlation_id: correlationId,
        session_id: sessionId,
        status,
        occurred_at_ms: occurredAtMs,
        omitted,
        body,
      });
    }
  }

  written(isKept: boolean): void {
    if (isKept) this.#kept += this.#waiting.length;
    else this.#dropped += this.#waiting.length;
    this.#waiting = [];
    this.#characters = 0;
    if (this.#due !== undefined) this.#clock.clearTimeout(this.#due);
    this.#due = undefined;
  }
}
