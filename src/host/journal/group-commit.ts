import { isSluiceError } from '../../kernel/index.js';
import type { SqliteDatabase } from '../sqlite/open-sqlite.js';
import { isOfOneRow } from './table-rows.js';

interface Write {
  readonly run: () => void;
  readonly failed: (error: unknown) => void;
  readonly done: () => void;
}

/** Less important writes, which go along with a transaction and never make one fail. */
export interface Passenger {
  /** Whether there is anything to write. */
  waits(): boolean;
  /** Writes it, within the transaction. */
  write(): void;
  /** Told when that transaction is over. */
  written(isKept: boolean): void;
}

/**
 * Writes of one turn of the event loop in one transaction, so that many of them cost one sync of the disk. Each learns
 * whether it was kept. While the disk syncs, nothing else runs in this process: what comes meanwhile makes the next
 * transaction.
 *
 * @example
 * const commits = new GroupCommit(database);
 * await commits.write(() => insert.run(id, body)); // it is on the disk
 */
export class GroupCommit {
  readonly #database: SqliteDatabase;
  readonly #passenger: Passenger | undefined;
  #waiting: Write[] = [];
  #scheduled: NodeJS.Immediate | undefined;

  constructor(database: SqliteDatabase, passenger?: Passenger) {
    this.#database = database;
    this.#passenger = passenger;
  }

  /**
   * Runs a write with the next transaction. One that refuses by an error of its own fails alone, as long as it has
   * written nothing; where the database fails, all of the transaction do.
   *
   * @returns what it returned, once it is kept.
   */
  write<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      let value: T;
      this.#waiting.push({
        run: () => {
          value = work();
        },
        failed: reject,
        done: () => resolve(value),
      });
      this.#scheduled ??= setImmediate(() => this.flush());
    });
  }

  /** Writes what waits, now. */
  flush(): void {
    clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    const batch = this.#waiting;
    this.#waiting = [];
    const passenger = this.#passenger?.waits() === true ? this.#passenger : undefined;
    if (batch.length === 0 && passenger === undefined) return;
    try {
      this.#commit(batch, passenger);
      passenger?.written(true);
    } catch (error) {
      passenger?.written(false);
      if (passenger === undefined) for (const { failed } of batch) failed(error);
      else this.#alone(batch);
    }
  }

  /** Without the passenger that may have been too much. */
  #alone(batch: readonly Write[]): void {
    if (batch.length === 0) return;
    try {
      this.#commit(batch);
    } catch (error) {
      for (const { failed } of batch) failed(error);
    }
  }

  #commit(batch: readonly Write[], passenger?: Passenger): void {
    const refused = new Map<Write, unknown>();
    this.#database.transaction(() => {
      for (const one of batch)
        try {
          one.run();
        } catch (error) {
          // what the database throws ends the transaction; a damaged row concerns whoever needs it
          const isRefused = isSluiceError(error) && !error.code.startsWith('database-');
          if (!isRefused && !isOfOneRow(error)) throw error;
          refused.set(one, error);
        }
      passenger?.write();
    });
    for (const one of batch)
      if (refused.has(one)) one.failed(refused.get(one));
      else one.done();
  }
}
