import { type Clock, deferred, Timer } from 'sluice-kernel/internal';

/** Messages that one turn answers, at most (durability §10.3). */
export const maxBatchSize = 50;

/** The longest wait, in times of `joinWithinMs`. */
export const longestBatchWait = 10;

interface Open {
  /** Messages with this key join. */
  readonly key: string;
  arrived: number;
  isClosed: boolean;
  isStopped: boolean;
  isForArrival: boolean;
  wake: () => void;
}

/** The updates that wait for others to join them, by the lane of their conversation (durability §10). */
export class MessageBatches {
  readonly #clock: Clock;
  readonly #withinMs: Readonly<Record<string, number>>;
  readonly #windows = new Map<string, Open>();
  #isOver = false;

  /** @param withinMs milliseconds by `channel` or `channel/account`. */
  constructor(clock: Clock, withinMs: Readonly<Record<string, number>>) {
    this.#clock = clock;
    this.#withinMs = withinMs;
  }

  /** Milliseconds that a message of an account waits for the next; 0 if it does not wait. */
  withinMs(account: Readonly<{ channel: { id: string }; accountId: string }>): number {
    const { channel, accountId } = account;
    return this.#withinMs[`${channel.id}/${accountId}`] ?? this.#withinMs[channel.id] ?? 0;
  }

  /** The channels and accounts that the settings name. */
  get names(): readonly string[] {
    return Object.keys(this.#withinMs);
  }

  /** Begins the wait of a leader. It is the next in its lane, so there is one wait in a lane. */
  open(lane: string, key: string) {
    const clock = this.#clock;
    const open: Open = {
      key,
      arrived: 1,
      isClosed: this.#isOver,
      isStopped: false,
      isForArrival: false,
      wake: () => undefined,
    };
    this.#windows.set(lane, open);
    return {
      /** Nothing joins any more: the leader is to begin. */
      get isClosed() {
        return open.isClosed;
      },
      /** A person has stopped it: the leader ends without a turn. */
      get isStopped() {
        return open.isStopped;
      },
      /** Resolves after so many milliseconds, when it is closed, or, if asked, when a message comes in its lane. */
      wait: async (ms: number, { isForArrival } = { isForArrival: false }): Promise<void> => {
        if (open.isClosed) return;
        const { promise, resolve } = deferred<void>();
        using timer = new Timer(clock);
        timer.set(ms, resolve);
        open.isForArrival = isForArrival;
        open.wake = resolve;
        await promise;
      },
      [Symbol.dispose]: () => void this.#windows.delete(lane),
    };
  }

  /** An update of a lane was persisted. @param key of a message that may join. @param mayAnswer it may be an answer, which joins none. */
  arrived(lane: string, key: string | undefined, mayAnswer: boolean): void {
    const open = this.#windows.get(lane);
    if (open === undefined) return;
    if (key !== open.key || ++open.arrived >= maxBatchSize) close(open);
    else if (open.isForArrival || mayAnswer) open.wake();
  }

  /** An update of a lane was known, or could not be persisted: a leader that waits for its write looks again. */
  notNew(lane: string): void {
    const open = this.#windows.get(lane);
    if (open?.isForArrival === true) open.wake();
  }

  /** Lets the leader of a lane begin. */
  close(lane: string): void {
    const open = this.#windows.get(lane);
    if (open !== undefined) close(open);
  }

  /** Ends the leader of a lane without a turn. @returns whether there was one. */
  stop(lane: string): boolean {
    const open = this.#windows.get(lane);
    if (open === undefined) return false;
    open.isStopped = true;
    close(open);
    return true;
  }

  /** Ends all waits, for good: the host stops. */
  end(): void {
    this.#isOver = true;
    for (const open of this.#windows.values()) close(open);
  }
}

function close(open: Open): void {
  open.isClosed = true;
  open.wake();
}
