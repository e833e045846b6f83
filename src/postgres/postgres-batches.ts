import { randomBytes } from 'node:crypto';
import type { JournalStats, NewDispatch } from '@sluice/journal';
import { journalError, type WaitingDispatches } from '@sluice/journal/internal';
import { isSluiceError, type SluiceError, Timer } from 'sluice-kernel/internal';
import { CommitFates } from './members/commit-fates.js';
import { unfenced } from './postgres-fence.js';
import type { PostgresConnections, PostgresQuery } from './rows/connections.js';
import {
  type NeededRows,
  type RowOptions,
  type SharedTransaction,
  workingRows,
} from './rows/postgres-rows.js';
import { dispatchesTable, insertAll, JoinedWrites } from './rows/postgres-tables.js';

interface Job {
  readonly needs: NeededRows;
  readonly run: (at: SharedTransaction) => unknown;
  readonly done: (value: unknown) => void;
  readonly failed: (error: unknown) => void;
}

type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** The parts of the batches of a journal. */
export interface BatchOptions extends RowOptions {
  /**
   * Checks within the transaction that this process may write, before anything is written, and ends the fences that it has lost.
   *
   * @returns the id of the transaction.
   * @throws SluiceError (as a rejection) `journal-lost` if it may not write at all.
   */
  readonly fence: (query: PostgresQuery) => Promise<string>;
  /** The right to write may have ended, by the clock of this process: a write that was persisted asks for it once more. */
  readonly isLate?: () => boolean;
  /** The dispatches that go along with other writes, and the place that they are taken from within a transaction. */
  readonly passengers?: {
    readonly waiting: WaitingDispatches;
    readonly taken: () => readonly NewDispatch[];
  };
  /** Milliseconds for which the end of a commit without an answer is asked for. */
  readonly unknownForMs: number;
}

/** Writes of one transaction, at most, and the characters of dispatches that go along with them. */
const mostWrites = 1_000;
const passengerCharacters = 1024 * 1024;

/** Milliseconds that a write may wait for another one, if nobody waits for it. */
const laterMs = 100;

/** Milliseconds between two writes that show whether a full disk has room again. */
const probeEveryMs = 1_000;

/** The failures that are the same for each write of a transaction: none is tried alone. */
const ofAll: readonly string[] = [
  ...['journal-lost', 'database-io', 'database-full', 'database-read-only', 'database-not-opened'],
];

/** Failures by another host that pass: it has taken the same update in, which is known now, or each has waited for the other. */
const passing = ['database-constraint', 'database-busy'] as const;

/**
 * Writes that come together, or while a transaction is under way, share the next transaction. Rows are locked and read by one
 * statement a kind, changed in memory, and all of them are written by one statement.
 */
export class PostgresBatches {
  readonly #connections: PostgresConnections;
  readonly #options: BatchOptions;
  readonly #waiting: Job[] = [];
  readonly #later: Job[] = [];
  readonly #fates: CommitFates;
  readonly #probeTimer: Timer;
  readonly #laterTimer: Timer;
  #isCarrying = false;
  #isClosed = false;
  #running: Promise<void> | undefined;
  #failure: SluiceError | undefined;
  #commits = 0;
  #commitMs = 0;

  constructor(connections: PostgresConnections, options: BatchOptions) {
    this.#connections = connections;
    this.#options = options;
    this.#fates = new CommitFates(connections.query, options.clock, options.unknownForMs);
    this.#probeTimer = new Timer(options.clock);
    this.#laterTimer = new Timer(options.clock);
  }

  /** The reason why the last write was not persisted; `undefined` if it was. */
  get failure(): SluiceError | undefined {
    return this.#failure;
  }

  /** The transactions so far, and the milliseconds that they took. */
  stats(): Pick<JournalStats, 'commits' | 'commitMs'> {
    return { commits: this.#commits, commitMs: this.#commitMs };
  }

  /** Runs a write in the next transaction. It may run again, if that was rolled back. @returns its result, once it is persisted. */
  write<T>(run: (at: SharedTransaction) => T | Promise<T>, needs: NeededRows = {}): Promise<T> {
    this.#joinLater();
    const persisted = this.#add(this.#waiting, run, needs);
    this.#start();
    return persisted;
  }

  /** Renews the right to write, before the writes that wait: they may be many. */
  renew<T>(run: (query: PostgresQuery) => Promise<T>): Promise<T> {
    const list: Job[] = [];
    const persisted = this.#add(list, ({ query }) => run(query), { isRenewal: true });
    this.#waiting.unshift(...list);
    this.#start();
    return persisted;
  }

  /** Runs a write with the next one that somebody waits for, before it; within 100 ms if none comes. */
  later<T>(run: (at: SharedTransaction) => T | Promise<T>, needs: NeededRows = {}): Promise<T> {
    if (!this.#laterTimer.isSet) this.#laterTimer.set(laterMs, () => this.hurry());
    return this.#add(this.#later, run, needs);
  }

  /** Runs the writes of `later` now. */
  hurry(): void {
    this.#joinLater();
    if (this.#waiting.length > 0) this.#start();
  }

  /** Says that the dispatches have waited long enough. */
  carry(): void {
    this.#isCarrying = true;
    this.#start();
  }

  /** Takes no more writes. Resolves when those before are written, or have failed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#probeTimer.clear();
    await this.settled();
  }

  /** Resolves when all writes and dispatches so far are written, or have failed. */
  async settled(): Promise<void> {
    this.#joinLater();
    this.carry();
    while (this.#running !== undefined) await this.#running;
  }

  #add<T>(
    list: Job[],
    run: (at: SharedTransaction) => T | Promise<T>,
    needs: NeededRows,
  ): Promise<T> {
    if (this.#isClosed)
      return Promise.reject(journalError('database-closed', { path: this.#connections.address }));
    return new Promise((resolve, failed) => {
      list.push({ needs, run, failed, done: (value) => resolve(value as T) }); // it is what `run` gave
    });
  }

  #joinLater(): void {
    this.#waiting.push(...this.#later.splice(0));
    this.#laterTimer.clear();
  }

  #start(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#waiting.length > 0 || this.#isDue()) this.#start(); // it came at the last moment
    });
  }

  #isDue(): boolean {
    return this.#isCarrying && this.#options.passengers?.waiting.waits() === true;
  }

  async #run(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve)); // what comes in one turn goes together
    while (this.#waiting.length > 0 || this.#isDue()) {
      const alone = this.#waiting
        .slice(0, mostWrites)
        .findIndex(({ needs }) => needs.isAlone === true || needs.isRenewal === true);
      const jobs = this.#waiting.splice(0, alone < 0 ? mostWrites : Math.max(1, alone));
      await this.#commit(jobs, jobs[0]?.needs.isRenewal !== true);
    }
    this.#isCarrying = false;
  }

  /** Writes some jobs. If their transaction fails, each half is tried alone, so that a job fails for a reason of its own. */
  async #commit(jobs: readonly Job[], withPassengers: boolean, isAgain = false): Promise<void> {
    const waiting = withPassengers ? this.#options.passengers?.waiting : undefined;
    const fromMs = this.#options.clock.monotonicMs();
    try {
      const outcomes = await this.#transaction(jobs, withPassengers);
      this.#commits++;
      this.#commitMs += this.#options.clock.monotonicMs() - fromMs;
      if (withPassengers || !isSluiceError(this.#failure, 'database-full'))
        this.#failure = undefined; // a renewal needs no room
      waiting?.written(true);
      for (const [job, outcome] of outcomes)
        if ('error' in outcome) job.failed(outcome.error);
        else job.done(outcome.value);
    } catch (error) {
      if (
        this.#options.ownership.partitionCount > 1 &&
        !isAgain &&
        passing.some((code) => isSluiceError(error, code))
      )
        return this.#commit(jobs, withPassengers, true);
      this.#failed(error);
      waiting?.written(false);
      const isOfAll = isSluiceError(error) && ofAll.includes(error.code);
      const areSeveral = jobs.length > 1 || waiting !== undefined;
      if (isOfAll || !areSeveral) for (const { failed } of jobs) failed(error);
      else
        for (const half of [jobs.slice(0, jobs.length / 2), jobs.slice(jobs.length / 2)])
          if (half.length > 0) await this.#commit(half, false);
    }
  }

  /**
   * Remembers a failure until a write is persisted. A full disk is asked for room meanwhile: who asks whether all is well may bring
   * nothing.
   */
  #failed(error: unknown): void {
    this.#failure = isSluiceError(error) ? error : undefined;
    if (isSluiceError(error, 'database-io')) this.#fates.lost();
    if (!isSluiceError(error, 'database-full') || this.#isClosed) return;
    this.#probeTimer.setIdly(probeEveryMs, () => {
      this.write(({ query }) => probe(query)).catch(() => undefined); // the next probe comes
    });
  }

  async #transaction(
    jobs: readonly Job[],
    withPassengers: boolean,
  ): Promise<ReadonlyMap<Job, Outcome>> {
    const { fence } = this.#options;
    const passengers = withPassengers ? this.#options.passengers : undefined;
    const outcomes = new Map<Job, Outcome>();
    const history = await this.#fates.history();
    let id: string | undefined;
    try {
      await this.#connections.transaction(async (query) => {
        const isRenewal = jobs.some(({ needs }) => needs.isRenewal);
        const needs = jobs.map((job) => job.needs);
        const fencing = isRenewal ? unfenced(query) : fence(query); // what follows goes along with it
        const loading = workingRows(query, needs, this.#options);
        await Promise.allSettled([fencing, loading]); // nothing is asked for after the transaction
        const fenced = await fencing;
        const { at, write } = await loading;
        for (const job of jobs)
          try {
            outcomes.set(job, { value: await job.run(at) });
          } catch (error) {
            if (!isSluiceError(error) || error.code.startsWith('database-')) throw error;
            outcomes.set(job, { error }); // it has written nothing
          }
        const writes = new JoinedWrites();
        write(writes);
        passengers?.waiting.write({ characters: passengerCharacters, isSpent: () => false });
        insertAll(writes, dispatchesTable, passengers?.taken() ?? []);
        await writes.run(query);
        id = fenced; // from here on it may be persisted
      });
    } catch (error) {
      const isUnknown = id !== undefined && isSluiceError(error, 'database-io');
      if (id === undefined || !isUnknown || !(await this.#fates.isCommitted(id, history)))
        throw error;
    }
    const isLate = jobs[0]?.needs.isRenewal !== true && this.#options.isLate?.() === true;
    if (isLate) await this.#connections.transaction(fence); // nobody acts on what another host may have settled
    return outcomes;
  }
}

/** Writes something that needs room, and leaves nothing of it. */
async function probe(query: PostgresQuery): Promise<void> {
  const body = randomBytes(32_768).toString('hex');
  await query(
    `INSERT INTO sluice_key_values (namespace, key, bytes, body) VALUES ('/room', '', 0, $1)`,
    [body],
  );
  await query(`DELETE FROM sluice_key_values WHERE namespace = '/room'`);
}
