import { Timer } from 'sluice-kernel/internal';
import type { SqliteDatabase } from '../database/open-sqlite.js';
import { journalError } from '../errors.js';
import { CommitQueue, type Write } from './commit-queue.js';
import { type TransactionOptions, transactions } from './transactions.js';

/** The parts that a `GroupCommit` works with. */
interface GroupCommitOptions extends TransactionOptions {
  /** A write that shows whether the database takes writes again. It is made each second while the database refuses. */
  readonly probe?: () => void;
}

type Kind = 'writes' | 'passengers' | 'chore';

/** Milliseconds that a write waits for a lock of another process, and between two attempts. */
const lockWaitMs = 5_000;
const lockRetryMs = 10;

/** Milliseconds until passengers are tried again that found a lock, while nobody waits. */
const passengerRetryMs = 100;

/** Transactions of writes in a row, at most, while passengers or a chore are due. */
const writesInRow = 4;

/**
 * The writes of a file: one transaction of many costs one sync of the disk. A transaction is bounded in time and size, and the event loop runs between two of them; writes that do not fit
 * go into the next one. A lock of another process is waited for without blocking. Writes go first; passengers and chores take
 * no more than half of the time.
 *
 * @example
 * const commits = new GroupCommit(database, { insert }, { clock: systemClock });
 * await commits.write(({ insert }) => insert.run(id, body)); // it is on the disk
 */
export class GroupCommit<At> extends CommitQueue<At> {
  readonly #options: GroupCommitOptions;
  readonly #transactions: ReturnType<typeof transactions<At>>;
  readonly #chores: Write<At>[] = [];
  #settling: (() => void)[] = [];
  #immediate: NodeJS.Immediate | undefined;
  readonly #timer: Timer;
  #isPassengerDue = false;
  /** The time since which another process has held the writes up. */
  #lockedSinceMs: number | undefined;
  #restUntilMs = Number.NEGATIVE_INFINITY;
  #writesInRow = 0;
  #isChoreNext = true;

  constructor(database: SqliteDatabase, at: At, options: GroupCommitOptions) {
    super(database.path, options.clock);
    this.#options = options;
    this.#transactions = transactions(database, at, options);
    this.#timer = new Timer(options.clock);
  }

  /** Runs work that may wait in a transaction of its own. It is to be short: more of it is another chore. */
  chore<T>(work: () => T): Promise<T> {
    const persisted = this.add(this.#chores, work);
    this.schedule();
    return persisted;
  }

  override carry(): void {
    this.#isPassengerDue = true;
    this.schedule();
  }

  /** Nothing rests meanwhile. */
  override settled(): Promise<void> {
    return new Promise((resolve) => {
      this.#settling.push(resolve);
      this.joinLater();
      this.carry();
    });
  }

  /** Gives the chores up, besides. */
  override async close(): Promise<void> {
    const path = this.path;
    for (const { failed } of this.#chores.splice(0))
      failed(journalError('database-closed', { path }));
    await super.close();
    this.#timer.clear();
  }

  protected override schedule(): void {
    if (this.#lockedSinceMs !== undefined) return; // a timer looks again
    this.#immediate ??= setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#immediate = undefined;
    const fromMs = this.nowMs();
    const kind = this.#next(fromMs);
    try {
      if (kind === 'writes')
        this.remember(this.#transactions.writes(this.waiting), this.#options.probe);
      else if (kind === 'passengers') this.#transactions.passengers();
      else if (kind === 'chore') this.#transactions.chore(this.#chores);
    } catch (error) {
      this.#waitForLock(error); // nothing else is thrown
      return;
    }
    this.#lockedSinceMs = undefined;
    if (kind !== undefined) this.count(fromMs);
    if (kind === 'writes') this.#writesInRow++;
    else if (kind !== undefined) {
      this.#writesInRow = 0;
      this.#isChoreNext = kind === 'passengers';
      this.#restUntilMs = 2 * this.nowMs() - fromMs; // it rests for as long as it worked
    }
    this.#goOn();
  }

  /** Writes come first, unless they have persisted everything else waiting. */
  #next(nowMs: number): Kind | undefined {
    const other = this.#other(nowMs);
    const isWritesTurn = other === undefined || this.#writesInRow < writesInRow;
    return this.waiting.length > 0 && isWritesTurn ? 'writes' : other;
  }

  #other(nowMs: number): Kind | undefined {
    if (nowMs < this.#restUntilMs && this.#settling.length === 0) return undefined;
    const hasChore = this.#chores.length > 0;
    if (this.#hasPassengers() && !(hasChore && this.#isChoreNext)) return 'passengers';
    return hasChore ? 'chore' : undefined;
  }

  #hasPassengers(): boolean {
    return this.#isPassengerDue && this.#options.passenger?.waits(false) === true;
  }

  #goOn(): void {
    const nowMs = this.nowMs();
    const hasPassengers = this.#hasPassengers();
    if (!hasPassengers) this.#isPassengerDue = false;
    if (this.waiting.length === 0 && !hasPassengers)
      for (const resolve of this.#settling.splice(0)) resolve();
    if (this.#next(nowMs) !== undefined) this.schedule();
    else if (hasPassengers || this.#chores.length > 0) this.#lookIn(this.#restUntilMs - nowMs);
  }

  /** Nothing was written: writes that have waited too long fail, and the others are tried again soon. */
  #waitForLock(error: unknown): void {
    const nowMs = this.nowMs();
    const lockedSinceMs = this.#lockedSinceMs ?? nowMs;
    for (const list of [this.waiting, this.#chores]) {
      const late = list.filter(
        ({ sinceMs }) => nowMs - Math.max(sinceMs, lockedSinceMs) >= lockWaitMs,
      );
      list.splice(0, late.length); // they are in the order in which they came
      for (const { failed } of late) failed(error);
      if (list === this.waiting && late.length > 0) this.remember(error, this.#options.probe);
    }
    const isSettling = this.#settling.length > 0;
    if (isSettling && nowMs - lockedSinceMs >= lockWaitMs) this.#options.passenger?.drop();
    const isAwaited = isSettling || this.waiting.length > 0 || this.#chores.length > 0;
    this.#lockedSinceMs = isAwaited ? lockedSinceMs : undefined;
    this.#lookIn(isAwaited ? lockRetryMs : passengerRetryMs);
  }

  #lookIn(ms: number): void {
    const look = (): void => void (this.#immediate ??= setImmediate(() => this.#turn()));
    if (this.#lockedSinceMs === undefined) this.#timer.setIdly(ms, look);
    else this.#timer.set(ms, look); // a write that is awaited keeps the process
  }
}
