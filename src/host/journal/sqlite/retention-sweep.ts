import type { Clock } from '../../../kernel/index.js';
import type { SqliteDatabase } from '../../sqlite/open-sqlite.js';
import type { GroupCommit } from '../commit/group-commit.js';
import { dropOld, growth, type Retention, usualKeepBytes } from './retention.js';

/** Milliseconds between two sweeps, at most. */
const sweepEveryMs = 600_000;

/** Milliseconds that one slice may take. */
const sliceMs = 20;

/**
 * Drops old rows of a journal now and then, in slices between its writes. A sweep that fails hurts nothing else, and comes
 * again.
 */
export class RetentionSweep {
  readonly #database: SqliteDatabase;
  readonly #commits: GroupCommit;
  readonly #clock: Clock;
  readonly #retention: Retention;
  #state: 'idle' | 'sweeping' | 'due again' | 'closed' = 'idle';
  #sweptAtMs = 0;
  /** Characters that were written since the last sweep. */
  #grown = 0;

  constructor(database: SqliteDatabase, commits: GroupCommit, clock: Clock, retention: Retention) {
    this.#database = database;
    this.#commits = commits;
    this.#clock = clock;
    this.#retention = retention;
  }

  /** Begins to sweep, or sweeps once more when the sweep that is under way has ended. */
  start(): void {
    this.#sweptAtMs = this.#clock.monotonicMs();
    this.#grown = 0;
    if (this.#state === 'idle') void this.#sweep();
    else if (this.#state === 'sweeping') this.#state = 'due again';
  }

  /** Says that so many characters are to be written. */
  grows(characters: number): void {
    const { keepBytes = usualKeepBytes } = this.#retention;
    this.#grown += characters;
    const isDue = this.#clock.monotonicMs() - this.#sweptAtMs >= sweepEveryMs;
    if (isDue || this.#grown >= keepBytes * growth) this.start();
  }

  close(): void {
    this.#state = 'closed';
  }

  /** Never rejects. */
  async #sweep(): Promise<void> {
    this.#state = 'sweeping';
    let untilMs = 0;
    const isSpent = (): boolean => this.#clock.monotonicMs() >= untilMs;
    const slices = dropOld(this.#database, this.#retention, this.#clock.now(), isSpent);
    const slice = (): boolean => {
      untilMs = this.#clock.monotonicMs() + sliceMs;
      return slices.next().done !== true;
    };
    try {
      while (await this.#commits.chore(slice));
    } catch {
      // the writes that a full disk stops, say, tell of it
    }
    this.#ended();
  }

  #ended(): void {
    if (this.#state === 'closed') return;
    const isDueAgain = this.#state === 'due again';
    this.#state = 'idle';
    if (isDueAgain) this.start();
  }
}
