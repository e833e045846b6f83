import { type Clock, isSluiceError, type SluiceError, Timer } from 'sluice-kernel/internal';
import { journalError } from '../errors.js';

/** The rows that a write looks at. A database on a server locks and reads those of a transaction together, before its writes run. */
export interface NeededRows {
  readonly updates?: readonly string[];
  readonly sends?: readonly string[];
  /** It begins an update if no other one of this lane is open; with `most`, it counts as many. */
  readonly lane?: { readonly key: string; readonly most: number | undefined };
  readonly value?: NeededValue;
  /** It looks at all dead letters, and at the last number of a send. */
  readonly isOfDead?: boolean;
  /** It gets a transaction of its own. */
  readonly isAlone?: boolean;
  /** It renews the right to write: it gets a transaction of its own, which is not fenced. */
  readonly isRenewal?: boolean;
}

/** A value that a transaction writes. A namespace with a bound is counted, and held until the transaction ends. */
export interface NeededValue {
  readonly namespace: string;
  readonly key: string;
  readonly isCounted: boolean;
  /** It is expected to have a body. */
  readonly hasBody?: boolean;
}

/** A write that somebody waits for. */
export interface Write<At> {
  /** The time of its request by the monotonic clock. */
  readonly sinceMs: number;
  readonly needs: NeededRows;
  readonly run: (at: At) => unknown;
  readonly done: (value: unknown) => void;
  readonly failed: (error: unknown) => void;
}

/** The end of a write within its transaction. */
export type WriteEnd = { readonly value: unknown } | { readonly error: unknown };

/** Writes of one transaction, at most. */
export const mostWrites = 1_000;

/** Milliseconds that a write may wait for another one, if nobody waits for it. */
const laterMs = 100;

/** Milliseconds between two probes of a database that refuses. */
const probeEveryMs = 1_000;

/**
 * The writes of a journal that wait for a transaction, which those share that come together. Each learns whether it was persisted.
 * `At` is a transaction, as the writes see it.
 */
export abstract class CommitQueue<At> {
  /** The transactions so far, and the milliseconds that they took. */
  readonly times = { commits: 0, commitMs: 0 };
  protected readonly waiting: Write<At>[] = [];
  protected isClosed = false;
  /** Writes that go along with the next one that somebody waits for, before it. */
  readonly #later: Write<At>[] = [];
  protected readonly path: string;
  readonly #clock: Clock;
  readonly #laterTimer: Timer;
  readonly #probeTimer: Timer;
  #failure: SluiceError | undefined;

  /** @param path the path or the address of the database, for messages. */
  constructor(path: string, clock: Clock) {
    this.path = path;
    this.#clock = clock;
    this.#laterTimer = new Timer(clock);
    this.#probeTimer = new Timer(clock);
  }

  /** Has the writes that wait written soon. */
  protected abstract schedule(): void;

  /** Says that the dispatches have waited long enough. */
  abstract carry(): void;

  /** Resolves when all writes and dispatches so far are written, or have failed. */
  abstract settled(): Promise<void>;

  /** The reason why the last write was not persisted; `undefined` if it was. */
  get failure(): SluiceError | undefined {
    return this.#failure;
  }

  /**
   * Runs a write with the next transaction. A write that throws an error of its own fails alone, as long as it has written nothing;
   * if the database fails, so do the writes of the transaction. It runs again if that was rolled back.
   *
   * @returns its result, once it is persisted.
   */
  write<T>(run: (at: At) => T | Promise<T>, needs: NeededRows = {}): Promise<T> {
    this.joinLater();
    const persisted = this.add(this.waiting, run, needs);
    this.schedule();
    return persisted;
  }

  /**
   * Runs a write with the next one that somebody waits for, before it; within 100 ms if none comes. So it costs no transaction of
   * its own. Writes keep their order.
   *
   * @returns as `write`.
   */
  later<T>(run: (at: At) => T | Promise<T>, needs: NeededRows = {}): Promise<T> {
    if (!this.#laterTimer.isSet) this.#laterTimer.set(laterMs, () => this.hurry());
    return this.add(this.#later, run, needs);
  }

  /** Runs the writes of `later` now, because somebody waits for them. */
  hurry(): void {
    this.joinLater();
    if (this.waiting.length > 0) this.schedule();
  }

  /** Takes no more writes. Resolves when those before are written, or have failed. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.settled();
    this.#probeTimer.clear();
  }

  protected add<T>(
    list: Write<At>[],
    run: (at: At) => T | Promise<T>,
    needs: NeededRows = {},
  ): Promise<T> {
    if (this.isClosed) return Promise.reject(journalError('database-closed', { path: this.path }));
    return new Promise((resolve, failed) => {
      const done = (value: unknown): void => resolve(value as T); // it is what `run` gave
      list.push({ sinceMs: this.nowMs(), needs, run, failed, done });
    });
  }

  protected joinLater(): void {
    this.waiting.push(...this.#later.splice(0));
    this.#laterTimer.clear();
  }

  /** Counts a transaction that has ended. @param fromMs when it began. */
  protected count(fromMs: number): void {
    this.times.commits++;
    this.times.commitMs += this.nowMs() - fromMs;
  }

  /** Remembers a failure until a write is persisted. @param probe shows each second whether the database takes writes again. */
  protected remember(failure: unknown, probe?: (at: At) => unknown): void {
    this.#failure = isSluiceError(failure) ? failure : undefined;
    if (this.#failure === undefined || probe === undefined) return;
    if (this.isClosed || this.#probeTimer.isSet) return;
    this.#probeTimer.setIdly(probeEveryMs, () => {
      this.write(probe).catch(() => undefined); // the next probe comes
    });
  }

  protected nowMs(): number {
    return this.#clock.monotonicMs();
  }
}

/** Tells a write its end. */
export function tellEnd<At>({ done, failed }: Write<At>, end: WriteEnd): void {
  if ('error' in end) failed(end.error);
  else done(end.value);
}
