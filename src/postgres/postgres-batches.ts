import { randomBytes } from 'node:crypto';
import type { NewDispatch } from '@sluice/journal';
import {
  CommitQueue,
  mostWrites,
  tellEnd,
  type WaitingDispatches,
  type Write,
  type WriteEnd,
} from '@sluice/journal/internal';
import { isSluiceError } from 'sluice-kernel';
import { CommitFates } from './members/commit-fates.js';
import { unfenced } from './postgres-fence.js';
import type { RecordHeads } from './record-heads.js';
import type { PostgresConnections, PostgresQuery } from './rows/connections.js';
import { type RowOptions, type SharedTransaction, workingRows } from './rows/postgres-rows.js';
import { dispatchesTable, insertAll, JoinedWrites } from './rows/postgres-tables.js';

/** The parts of the batches of a journal. */
interface BatchOptions extends RowOptions {
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
    readonly heads: RecordHeads | undefined;
  };
  /** Milliseconds for which the end of a commit without an answer is asked for. */
  readonly unknownForMs: number;
}

/** Characters of dispatches that go along with the writes of one transaction. */
const passengerCharacters = 1024 * 1024;

/** The failures that are the same for each write of a transaction: none is tried alone. */
const ofAll: readonly string[] = [
  ...['journal-lost', 'database-io', 'database-full', 'database-read-only', 'database-not-opened'],
];

/** Failures by another host that pass: it has taken the same update in, which is known now, or each has waited for the other. */
const passing = ['database-constraint', 'database-busy'] as const;

/**
 * The writes of a database on a server: those that come while a transaction is under way share the next one. Rows are locked and read by one
 * statement a kind, changed in memory, and all of them are written by one statement.
 */
export class PostgresBatches extends CommitQueue<SharedTransaction> {
  readonly #connections: PostgresConnections;
  readonly #options: BatchOptions;
  readonly #fates: CommitFates;
  #isCarrying = false;
  #running: Promise<void> | undefined;

  constructor(connections: PostgresConnections, options: BatchOptions) {
    super(connections.address, options.clock);
    this.#connections = connections;
    this.#options = options;
    this.#fates = new CommitFates(connections.query, options.clock, options.unknownForMs);
  }

  /** Renews the right to write, before the writes that wait: they may be many. */
  renew<T>(run: (query: PostgresQuery) => Promise<T>): Promise<T> {
    const list: Write<SharedTransaction>[] = [];
    const persisted = this.add(list, ({ query }) => run(query), { isRenewal: true });
    this.waiting.unshift(...list);
    this.schedule();
    return persisted;
  }

  override carry(): void {
    this.#isCarrying = true;
    this.schedule();
  }

  override async settled(): Promise<void> {
    this.joinLater();
    this.carry();
    while (this.#running !== undefined) await this.#running;
  }

  protected override schedule(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.waiting.length > 0 || this.#isDue()) this.schedule(); // it came at the last moment
    });
  }

  #isDue(): boolean {
    return this.#isCarrying && this.#options.passengers?.waiting.waits(false) === true;
  }

  async #run(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve)); // what comes in one turn goes together
    while (this.waiting.length > 0 || this.#isDue()) {
      const alone = this.waiting
        .slice(0, mostWrites)
        .findIndex(({ needs }) => needs.isAlone === true || needs.isRenewal === true);
      const jobs = this.waiting.splice(0, alone < 0 ? mostWrites : Math.max(1, alone));
      await this.#commit(jobs, jobs[0]?.needs.isRenewal !== true);
    }
    this.#isCarrying = false;
  }

  /** Writes some jobs. If their transaction fails, each half is tried alone, so that a job fails for a reason of its own. */
  async #commit(
    jobs: readonly Write<SharedTransaction>[],
    withPassengers: boolean,
    isAgain = false,
  ): Promise<void> {
    const isAlong = this.#options.passengers?.waiting.waits(!this.#isCarrying) === true;
    const passengers = withPassengers && isAlong ? this.#options.passengers : undefined;
    const waiting = passengers?.waiting;
    const fromMs = this.nowMs();
    try {
      const outcomes = await this.#transaction(jobs, passengers);
      this.count(fromMs);
      if (withPassengers || !isSluiceError(this.failure, 'database-full')) this.remember(undefined); // a renewal needs no room
      waiting?.written(true);
      for (const [job, outcome] of outcomes) tellEnd(job, outcome);
    } catch (error) {
      if (
        this.#options.ownership.partitionCount > 1 &&
        !isAgain &&
        passing.some((code) => isSluiceError(error, code))
      )
        return this.#commit(jobs, withPassengers, true);
      if (isSluiceError(error, 'database-io')) this.#fates.lost();
      // a full disk is asked for room meanwhile: who asks whether all is well may bring nothing
      this.remember(error, isSluiceError(error, 'database-full') ? probe : undefined);
      waiting?.written(false);
      const isOfAll = isSluiceError(error) && ofAll.includes(error.code);
      const areSeveral = jobs.length > 1 || waiting !== undefined;
      if (isOfAll || !areSeveral) for (const { failed } of jobs) failed(error);
      else
        for (const half of [jobs.slice(0, jobs.length / 2), jobs.slice(jobs.length / 2)])
          if (half.length > 0) await this.#commit(half, false);
    }
  }

  async #transaction(
    jobs: readonly Write<SharedTransaction>[],
    passengers: BatchOptions['passengers'],
  ): Promise<ReadonlyMap<Write<SharedTransaction>, WriteEnd>> {
    const { fence } = this.#options;
    const outcomes = new Map<Write<SharedTransaction>, WriteEnd>();
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
        const { at, flush } = await loading;
        for (const job of jobs)
          try {
            outcomes.set(job, { value: await job.run(at) });
          } catch (error) {
            if (!isSluiceError(error) || error.code.startsWith('database-')) throw error;
            outcomes.set(job, { error }); // it has written nothing
          }
        const writes = new JoinedWrites();
        flush(writes);
        await passengers?.heads?.load(query);
        passengers?.waiting.write({ characters: passengerCharacters, isSpent: () => false });
        insertAll(writes, dispatchesTable, passengers?.taken() ?? []);
        passengers?.heads?.flush(writes);
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
async function probe({ query }: SharedTransaction): Promise<void> {
  const body = randomBytes(32_768).toString('hex');
  await query(
    `INSERT INTO sluice_key_values (namespace, key, bytes, body) VALUES ('/room', '', 0, $1)`,
    [body],
  );
  await query(`DELETE FROM sluice_key_values WHERE namespace = '/room'`);
}
