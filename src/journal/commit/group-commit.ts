import { isSluiceError, type SluiceError, Timer } from 'sluice-kernel/internal';
import type { SqliteDatabase } from '../database/open-sqlite.js';
import { journalError } from '../errors.js';
import { type TransactionOptions, transactions, type Write } from './transactions.js';

/** The parts that a `GroupCommit` works with. */
export interface GroupCommitOptions extends TransactionOptions {
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

/** Milliseconds that a write may wait for another one, if nobody waits for it. */
const laterMs = 100;

/** Milliseconds between two probes of a database that refuses. */
const probeEveryMs = 1_000;

/**
 * Writes that come together go into one transaction, so that many of them cost one sync of the disk. Each learns whether it was
 * persisted. A transaction is bounded in time and size, and the event loop runs between two of them; writes that do not fit
 * go into the next one. A lock of another process is waited for without blocking. Writes go first; passengers and chores take
 * no more than half of the time.
 *
 * @example
 * const commits = new GroupCommit(database, { clock: systemClock });
 * await commits.write(() => insert.run(id, body)); // it is on the disk
 */
export class GroupCommit {
  readonly #database: SqliteDatabase;
  readonly #options: GroupCommitOptions;
  readonly #transactions: ReturnType<typeof transactions>;
  readonly #waiting: Write[] = [];
  /** Writes that go along with the next one that somebody waits for, before it. */
  readonly #later: Write[] = [];
  readonly #chores: Write[] = [];
  /** The transactions so far, and the milliseconds that they took. */
  readonly times = { commits: 0, commitMs: 0 };
  #settling: (() => void)[] = [];
  #immediate: NodeJS.Immediate | undefined;
  readonly #timer: Timer;
  readonly #probeTimer: Timer;
  readonly #laterTimer: Timer;
  #isPassengerDue = false;
  /** The time since which another process has held the writes up. */
  #lockedSinceMs: number | undefined;
  #restUntilMs = Number.NEGATIVE_INFINITY;
  #writesInRow = 0;
  #isChoreNext = true;
  #failure: SluiceError | undefined;
  #isClosing = false;

  constructor(database: SqliteDatabase, options: GroupCommitOptions) {
    this.#database = database;
    this.#options = options;
    this.#transactions = transactions(database, options);
    this.#timer = new Timer(options.clock);
    this.#probeTimer = new Timer(options.clock);
    this.#laterTimer = new Timer(options.clock);
  }

  /** The reason why the last write was not persisted; `undefined` if it was. */
  get failure(): SluiceError | undefined {
    return this.#failure;
  }

  /**
   * Runs a write with the next transaction. A write that throws an error of its own fails alone, as long as it has
   * written nothing; if the database fails, all writes of the transaction fail. It runs again if that was rolled back.
   *
   * @returns the result of the work, once it is persisted.
   */
  write<T>(work: () => T): Promise<T> {
    this.#joinLater();
    return this.#add(this.#waiting, work);
  }

  /**
   * Runs a write with the next one that somebody waits for, before it; within 100 ms if none comes. So it costs no sync of its
   * own. Writes keep their order.
   *
   * @returns as `write`.
   */
  later<T>(work: () => T): Promise<T> {
    if (!this.#laterTimer.isSet) this.#laterTimer.set(laterMs, () => this.hurry());
    return this.#add(this.#later, work);
  }

  /** Runs the writes of `later` now, because somebody waits for them. */
  hurry(): void {
    this.#joinLater();
    if (this.#waiting.length > 0) this.#schedule();
  }

  /** Runs work that may wait in a transaction of its own. It is to be short: more of it is another chore. */
  chore<T>(work: () => T): Promise<T> {
    return this.#isClosing ? Promise.reject(this.#closed()) : this.#add(this.#chores, work);
  }

  /** Says that the passengers have waited long enough. */
  carry(): void {
    this.#isPassengerDue = true;
    this.#schedule();
  }

  /** Resolves when all writes and passengers are written, or have failed. Nothing rests meanwhile. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      this.#settling.push(resolve);
      this.#joinLater();
      this.carry();
    });
  }

  /** Gives the chores up, and resolves when all that waits is written. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const { failed } of this.#chores.splice(0)) failed(this.#closed());
    await this.settled();
    for (const timer of [this.#probeTimer, this.#timer]) timer.clear();
  }

  #add<T>(list: Write[], work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      let value: T;
      list.push({
        sinceMs: this.#nowMs(),
        run: () => {
          value = work();
        },
        failed: reject,
        done: () => resolve(value),
      });
      if (list !== this.#later) this.#schedule();
    });
  }

  #joinLater(): void {
    this.#waiting.push(...this.#later.splice(0));
    this.#laterTimer.clear();
  }

  #schedule(): void {
    if (this.#lockedSinceMs !== undefined) return; // a timer looks again
    this.#immediate ??= setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#immediate = undefined;
    const fromMs = this.#nowMs();
    const kind = this.#next(fromMs);
    try {
      if (kind === 'writes') this.#written(this.#transactions.writes(this.#waiting));
      else if (kind === 'passengers') this.#transactions.passengers();
      else if (kind === 'chore') this.#transactions.chore(this.#chores);
    } catch (error) {
      this.#waitForLock(error); // nothing else is thrown
      return;
    }
    this.#lockedSinceMs = undefined;
    if (kind !== undefined) {
      this.times.commits++;
      this.times.commitMs += this.#nowMs() - fromMs;
    }
    if (kind === 'writes') this.#writesInRow++;
    else if (kind !== undefined) {
      this.#writesInRow = 0;
      this.#isChoreNext = kind === 'passengers';
      this.#restUntilMs = 2 * this.#nowMs() - fromMs; // it rests for as long as it worked
    }
    this.#goOn();
  }

  /** Writes come first, unless they have persisted everything else waiting. */
  #next(nowMs: number): Kind | undefined {
    const other = this.#other(nowMs);
    const isWritesTurn = other === undefined || this.#writesInRow < writesInRow;
    return this.#waiting.length > 0 && isWritesTurn ? 'writes' : other;
  }

  #other(nowMs: number): Kind | undefined {
    if (nowMs < this.#restUntilMs && this.#settling.length === 0) return undefined;
    const hasChore = this.#chores.length > 0;
    if (this.#hasPassengers() && !(hasChore && this.#isChoreNext)) return 'passengers';
    return hasChore ? 'chore' : undefined;
  }

  #hasPassengers(): boolean {
    return this.#isPassengerDue && this.#options.passenger?.waits() === true;
  }

  #goOn(): void {
    const nowMs = this.#nowMs();
    const hasPassengers = this.#hasPassengers();
    if (!hasPassengers) this.#isPassengerDue = false;
    if (this.#waiting.length === 0 && !hasPassengers)
      for (const resolve of this.#settling.splice(0)) resolve();
    if (this.#next(nowMs) !== undefined) this.#schedule();
    else if (hasPassengers || this.#chores.length > 0) this.#lookIn(this.#restUntilMs - nowMs);
  }

  /** Nothing was written: writes that have waited too long fail, and the others are tried again soon. */
  #waitForLock(error: unknown): void {
    const nowMs = this.#nowMs();
    const lockedSinceMs = this.#lockedSinceMs ?? nowMs;
    for (const list of [this.#waiting, this.#chores]) {
      const late = list.filter(
        ({ sinceMs }) => nowMs - Math.max(sinceMs, lockedSinceMs) >= lockWaitMs,
      );
      list.splice(0, late.length); // they are in the order in which they came
      for (const { failed } of late) failed(error);
      if (list === this.#waiting && late.length > 0) this.#written(error);
    }
    const isSettling = this.#settling.length > 0;
    if (isSettling && nowMs - lockedSinceMs >= lockWaitMs) this.#options.passenger?.drop();
    const isAwaited = isSettling || this.#waiting.length > 0 || this.#chores.length > 0;
    this.#lockedSinceMs = isAwaited ? lockedSinceMs : undefined;
    this.#lookIn(isAwaited ? lockRetryMs : passengerRetryMs);
  }

  #lookIn(ms: number): void {
    const look = (): void => void (this.#immediate ??= setImmediate(() => this.#turn()));
    if (this.#lockedSinceMs === undefined) this.#timer.setIdly(ms, look);
    else this.#timer.set(ms, look); // a write that is awaited keeps the process
  }

  /** Remembers a failure until a write is persisted; until then a probe is made each second. */
  #written(failure: unknown): void {
    this.#failure = isSluiceError(failure) ? failure : undefined;
    const { probe } = this.#options;
    if (this.#failure === undefined || probe === undefined) return;
    if (this.#isClosing || this.#probeTimer.isSet) return;
    this.#probeTimer.setIdly(probeEveryMs, () => {
      this.write(probe).catch(() => undefined); // the next probe comes
    });
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  #closed(): SluiceError {
    return journalError('database-closed', { path: this.#database.path });
  }
}
