import { type Clock, isSluiceError } from 'sluice-kernel';
import type { PostgresQuery } from '../rows/connections.js';

/** Milliseconds between two questions for the end of a commit. */
const askAgainMs = 100;

/** A standby has no history of its own yet. */
const standby = 'standby';

/**
 * The history that a database writes. A standby that takes its place begins another one, in which the ids of the transactions that it
 * had not got are given to others. A database that does not tell, such as one that shares its disk with its standbys, has one history.
 */
const historySql = `SELECT CASE WHEN pg_is_in_recovery() THEN '${standby}'
  ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS history`;

/** Asks for the ends of transactions whose commits had no answer. */
export class CommitFates {
  readonly #query: PostgresQuery;
  readonly #clock: Clock;
  readonly #forMs: number;
  #history: string | undefined;

  /**
   * @param query runs one statement by itself.
   * @param forMs milliseconds for which an end is asked for.
   */
  constructor(query: PostgresQuery, clock: Clock, forMs: number) {
    this.#query = query;
    this.#clock = clock;
    this.#forMs = forMs;
  }

  /** The history in which the next transaction is, unless it fails. */
  async history(): Promise<string> {
    if (this.#history !== undefined) return this.#history;
    const now = await this.#ask();
    if (now !== standby) this.#history = now;
    return now;
  }

  /** The connection was lost: the next one may lead to another server. */
  lost(): void {
    this.#history = undefined;
  }

  /** Returns whether a transaction was committed, if the database that it was in says so in time. */
  async isCommitted(id: string, history: string): Promise<boolean> {
    const untilMs = this.#clock.monotonicMs() + this.#forMs;
    while (this.#clock.monotonicMs() < untilMs) {
      try {
        const now = await this.#ask();
        if (now !== standby && now !== history) return false;
        const sql = 'SELECT pg_xact_status($1::xid8) AS status';
        const [row] = now === standby ? [{ status: 'in progress' }] : await this.#query(sql, [id]);
        if (row?.['status'] !== 'in progress')
          return row?.['status'] === 'committed' && (await this.#ask()) === now; // the same server has said it
      } catch (error) {
        if (!isSluiceError(error, 'database-io')) return false;
      }
      await new Promise<void>((resolve) => this.#clock.setTimeout(resolve, askAgainMs));
    }
    return false;
  }

  async #ask(): Promise<string> {
    try {
      const [row] = await this.#query(historySql);
      return String(row?.['history']);
    } catch (error) {
      if (isSluiceError(error, 'database-io')) throw error;
      return '';
    }
  }
}
