import { type Clock, isSluiceError } from 'sluice-kernel';
import type { SqliteDatabase } from '../database/open-sqlite.js';
import { isOfOneRow } from '../rows/table-rows.js';
import { mostWrites, tellEnd, type Write, type WriteEnd } from './commit-queue.js';

/** Less important writes that go along with a transaction and never make it fail. */
export interface Passenger {
  /** Returns whether there is anything to write: if it would go along with other writes, enough of it to be worth a row. */
  waits(isAlong: boolean): boolean;
  /** Writes some of it, within the transaction: at least one, and no more than there is room for. */
  write(room: PassengerRoom): void;
  /** Is told when that transaction is over. */
  written(isPersisted: boolean): void;
  /** Gives up the writes that wait. */
  drop(): void;
}

/** The room that passengers may take of a transaction. */
export interface PassengerRoom {
  readonly characters: number;
  readonly isSpent: () => boolean;
}

/** Checks that writes still count. Each call throws if they do not: then nothing of the transaction counts. */
interface CommitGuard {
  /** Within the transaction, before anything is written. */
  entering(): void;
  /** After the transaction is on the disk, before anybody is told. */
  leaving(): void;
}

/** The options of transactions. */
export interface TransactionOptions {
  readonly clock: Clock;
  readonly passenger?: Passenger;
  readonly guard?: CommitGuard;
}

/** Milliseconds that the work of one transaction may take. Its sync comes on top. */
const budgetMs = { writes: 50, passengers: 25 } as const;

/** Characters of passengers that go along with writes, and that make a transaction of their own. */
const passengerCharacters = { few: 128 * 1024, many: 1024 * 1024 } as const;

/**
 * The transactions of a `GroupCommit`, one a call. Each is bounded in time and size, and takes its writes off
 * their list. If another process holds the lock it throws `database-busy`, and every list is as it was.
 */
export function transactions<At>(database: SqliteDatabase, at: At, options: TransactionOptions) {
  return { writes, passengers, chore: carryOut };

  /**
   * Writes the first of a list, and some passengers. Each write learns its end.
   *
   * @returns the error of the database if it has failed.
   */
  function writes(waiting: Write<At>[], withPassengers = true): unknown {
    const isAlong = withPassengers && options.passenger?.waits(true) === true;
    const passenger = isAlong ? options.passenger : undefined;
    const isSpent = budget(budgetMs.writes);
    const ends = new Map<Write<At>, WriteEnd>();
    const failure = failureOf(() => {
      for (const one of waiting) {
        if (ends.size >= mostWrites || (ends.size > 0 && isSpent())) break;
        try {
          ends.set(one, { value: one.run(at) });
        } catch (error) {
          ends.set(one, { error });
          // an error of the database ends the transaction; a damaged row fails the write that needs it
          const isRefused = isSluiceError(error) && !error.code.startsWith('database-');
          if (!isRefused && !isOfOneRow(error)) throw error;
        }
      }
      passenger?.write(room('few'));
    });
    passenger?.written(failure === undefined);
    if (failure !== undefined && passenger !== undefined) return writes(waiting, false); // it may have been too much
    const ended = waiting.splice(0, failure === undefined ? ends.size : Math.max(1, ends.size));
    for (const one of ended)
      tellEnd(one, (failure === undefined && ends.get(one)) || { error: failure });
    return failure;
  }

  /** Writes passengers alone, and gives up those that cannot be written. */
  function passengers(): void {
    const { passenger } = options;
    const failure = failureOf(() => passenger?.write(room('many')));
    passenger?.written(failure === undefined);
  }

  /** Does the first chore of a list. */
  function carryOut(chores: Write<At>[]): void {
    const [chore] = chores;
    if (chore === undefined) return;
    let value: unknown;
    const failure = failureOf(() => {
      value = chore.run(at);
    });
    chores.shift();
    tellEnd(chore, failure === undefined ? { value } : { error: failure });
  }

  /** Runs a transaction. Throws only if another process has the lock: then nothing was tried. @returns the error of any other failure. */
  function failureOf(work: () => void): unknown {
    const { guard } = options;
    try {
      database.transaction(() => {
        guard?.entering();
        work();
      });
      guard?.leaving();
      return undefined;
    } catch (error) {
      if (isSluiceError(error, 'database-busy')) throw error;
      return error;
    }
  }

  function room(size: keyof typeof passengerCharacters): PassengerRoom {
    return { characters: passengerCharacters[size], isSpent: budget(budgetMs.passengers) };
  }

  function budget(ms: number): () => boolean {
    const { clock } = options;
    const untilMs = clock.monotonicMs() + ms;
    return () => clock.monotonicMs() >= untilMs;
  }
}
