import { randomUUID } from 'node:crypto';
import type { Clock, SluiceError, TimerHandle } from '../../../kernel/index.js';
import { hostError } from '../../errors.js';
import type { PostgresConnections, PostgresQuery } from './connections.js';
import type { PostgresBatches } from './postgres-batches.js';

/** The milliseconds of a lease, by default. */
export const usualLeaseMs = 5_000;

/** The renewals of one lease: it outlives some that are late or lost. */
const renewalsPerLease = 5;

/** Milliseconds between two tries to take a journal whose lease has not ended. */
const takeAgainMs = 50;

/**
 * Has the database end a transaction whose process says nothing more for so many milliseconds, as text: that
 * process was stopped or cut off, and would hold the row of the journal for as long as its connection seems to live.
 */
const stalledAfter = (ms: string): string =>
  `set_config('idle_in_transaction_session_timeout', ${ms}, true)`;

/**
 * The lease of a journal: one host at a time writes. Its end is a time of the database; the host itself counts by its monotonic
 * clock from before a renewal was sent. Each taking has a higher epoch, and each transaction checks the owner and the epoch: a
 * host that has slept writes nothing after it.
 */
export class PostgresLease {
  readonly #connections: PostgresConnections;
  readonly #clock: Clock;
  readonly #leaseMs: number;
  readonly #owner = randomUUID();
  #epoch = 0;
  #touched = 0;
  #renewedAtMs = 0;
  #lost: SluiceError | undefined;
  readonly #losing = new AbortController();
  #timer: TimerHandle | undefined;
  #isClosed = false;

  constructor(connections: PostgresConnections, clock: Clock, leaseMs: number) {
    this.#connections = connections;
    this.#clock = clock;
    this.#leaseMs = leaseMs;
  }

  /** Aborts when another host has taken the journal over. */
  get lost(): AbortSignal {
    return this.#losing.signal;
  }

  /** The changes that others have made: a number that grows. */
  get touched(): number {
    return this.#touched;
  }

  /**
   * Takes the journal, and waits for one lease if another host has it: that host may have died.
   *
   * @throws SluiceError (as a rejection) `journal-in-use` if it is renewed meanwhile.
   */
  async take(): Promise<void> {
    const untilMs = this.#clock.monotonicMs() + this.#leaseMs + 2 * takeAgainMs;
    for (;;) {
      const fromMs = this.#clock.monotonicMs();
      const [taken] = await this.#connections.query(
        `UPDATE sluice_journal SET owner = $1, epoch = epoch + 1,
            lease_until = clock_timestamp() + $2 * interval '1 ms'
          WHERE owner IS NULL OR lease_until < clock_timestamp() RETURNING epoch, touched`,
        [this.#owner, this.#leaseMs],
      );
      if (taken !== undefined) {
        this.#renewedAtMs = fromMs;
        this.#epoch = Number(taken['epoch']);
        this.#touched = Number(taken['touched']);
        return;
      }
      if (fromMs >= untilMs) throw hostError('journal-in-use', { path: this.#connections.address });
      await new Promise<void>((resolve) => this.#clock.setTimeout(resolve, takeAgainMs));
    }
  }

  /** Renews the lease until it is closed, by writes like all others. They show, too, when a database that was away is back. */
  renewBy(batches: PostgresBatches): void {
    if (this.#isClosed || this.#lost !== undefined) return;
    this.#timer = this.#clock.setTimeout(() => {
      const fromMs = this.#clock.monotonicMs();
      const renewed = batches.first(async ({ query }) => {
        const [row] = await query(
          `UPDATE sluice_journal SET lease_until = clock_timestamp() + $1 * interval '1 ms'
            RETURNING touched`,
          [this.#leaseMs],
        );
        return Number(row?.['touched']);
      });
      void renewed
        .then((touched) => {
          this.#touched = touched;
          this.#renewedAtMs = fromMs;
        })
        .catch(() => undefined) // `problem` tells of it
        .finally(() => this.renewBy(batches));
    }, this.#leaseMs / renewalsPerLease);
    this.#timer.unref?.();
  }

  /** Checks the owner and the epoch, and keeps others from taking the journal until the transaction ends. */
  async fence(query: PostgresQuery): Promise<string> {
    const [row] = await query(
      `SELECT pg_current_xact_id()::text AS id, ${stalledAfter('$3')} FROM sluice_journal
        WHERE owner = $1 AND epoch = $2 FOR SHARE`,
      [this.#owner, this.#epoch, String(this.#leaseMs)],
    );
    if (row !== undefined) return String(row['id']);
    const problem = 'its lease ended, and another host has taken it over';
    this.#lost ??= hostError('journal-lost', { path: this.#connections.address, problem });
    this.#losing.abort(this.#lost);
    throw this.#lost;
  }

  /** The reason why the host may not go on. */
  problem(): SluiceError | undefined {
    const lateMs = this.#clock.monotonicMs() - this.#renewedAtMs;
    if (this.#lost !== undefined || lateMs < this.#leaseMs) return this.#lost;
    const problem = `its lease of ${this.#leaseMs} ms could not be renewed in time`;
    return hostError('database-io', { path: this.#connections.address, problem });
  }

  /** Gives the journal up, so that the next host need not wait. */
  async release(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    await this.#connections
      .query('UPDATE sluice_journal SET owner = NULL WHERE owner = $1 AND epoch = $2', [
        ...[this.#owner, this.#epoch],
      ])
      .catch(() => undefined); // its lease ends by itself
  }
}

/** Lets a command write beside the host, which learns of it with its next renewal. */
export async function besideHost(query: PostgresQuery): Promise<string> {
  const [row] = await query(
    `UPDATE sluice_journal SET touched = touched + 1
      RETURNING pg_current_xact_id()::text AS id, ${stalledAfter('$1')}`,
    [String(usualLeaseMs)],
  );
  return String(row?.['id']);
}
