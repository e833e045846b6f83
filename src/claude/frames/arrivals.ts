import { type Clock, Timer } from 'sluice-kernel/internal';
import { type CallingQueue, type CsdkCallback, onCallback } from './callback.js';
import type { CsdkFrame } from './frame.js';

/** A source of frames. */
export type Frames = AsyncIterable<CsdkFrame> | Iterable<CsdkFrame>;

/** Something that a run has to deal with. Narrow by `kind`. */
export type Arrival =
  | { readonly kind: 'frame'; readonly frame: CsdkFrame }
  | { readonly kind: 'callback'; readonly callback: CsdkCallback }
  | { readonly kind: 'ended' }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'callbacksFailed'; readonly error: unknown }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'timedOut' }
  /** The reader was told to stop waiting, and has taken nothing. */
  | { readonly kind: 'left' }
  | { readonly kind: 'closed' };

/** The sources of arrivals. */
interface ArrivalSources {
  readonly messages: Frames;
  readonly callbacks?: AsyncIterable<CsdkCallback> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly clock: Clock;
}

/** Callbacks are read ahead, so that they keep their place among the frames, up to this many. */
const readAhead = 1024;

/** So many arrivals may come one after the other before a frame is asked for. */
const longestLead = 64;

/**
 * Everything that a run has to deal with, in the order in which it arrives, for one reader (csdk §1.3): frames, one at a
 * time as the reader wants them; callbacks as soon as they come; the signal; a timer.
 */
export class Arrivals {
  readonly #frames: AsyncIterator<CsdkFrame> | Iterator<CsdkFrame>;
  readonly #callbacks: AsyncIterator<CsdkCallback> | undefined;
  readonly #queueOfCallbacks: CallingQueue | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #clock: Clock;
  readonly #onAbort = (): void => this.#arrive({ kind: 'aborted' });
  readonly #queue: Arrival[] = [];
  #wake: ((arrival: Arrival) => void) | undefined;
  #stopCallbacks: (() => void) | undefined;
  readonly #timer: Timer;
  /** The name of the wait that goes on, and the time that is left of it. */
  #wait = '';
  #leftMs: number | undefined;
  #waitsSinceMs = 0;
  #framesState: 'idle' | 'asked' | 'done' = 'idle';
  #callbacksState: 'idle' | 'asked' | 'done' = 'idle';
  /** Arrivals since a frame was asked for. */
  #sinceFrame = 0;
  #isClosed = false;
  #isListening = false;

  constructor({ messages, callbacks, signal, clock }: ArrivalSources) {
    this.#frames =
      Symbol.asyncIterator in messages
        ? messages[Symbol.asyncIterator]()
        : messages[Symbol.iterator]();
    if (callbacks !== undefined && isCallingQueue(callbacks)) this.#queueOfCallbacks = callbacks;
    else this.#callbacks = callbacks?.[Symbol.asyncIterator]();
    this.#signal = signal;
    this.#clock = clock;
    this.#timer = new Timer(clock);
  }

  /** The next one: at once where it is there, else as soon as it comes. One call at a time. */
  next(): Arrival | Promise<Arrival> {
    if (!this.#isListening) this.#listen();
    this.#askForCallback();
    // Callbacks that come without a pause must not keep the frames waiting for ever.
    const due = ++this.#sinceFrame < longestLead ? undefined : this.#askForFrame();
    const ready = due ?? this.#queue.shift();
    if (ready !== undefined) return ready;
    const now = this.#askForFrame() ?? this.#queue.shift(); // asking may abort, or close, at once
    if (now !== undefined) return now;
    return new Promise((resolve) => {
      this.#wake = resolve;
      this.#waitsSinceMs = this.#clock.monotonicMs();
      this.#timer.set(this.#leftMs, () => this.#arrive({ kind: 'timedOut' }));
    });
  }

  /**
   * Limits the time that the reader waits in all, or does not. Under the name that was given last the same wait goes on: what
   * arrives extends it as little as the reader's own time shortens it.
   */
  wakeAfter(ms: number | undefined, wait: string): void {
    if (wait === this.#wait) return;
    this.#wait = wait;
    this.#leftMs = ms;
  }

  /** Wakes the reader that waits. What it waited for goes to the next one. */
  interrupt(): void {
    this.#wakeUp({ kind: 'left' });
  }

  /** Wakes the reader for good. */
  close(): void {
    this.#isClosed = true;
    this.#wakeUp({ kind: 'closed' });
  }

  /**
   * Lets go of both sources, once. A source that is being read cannot be waited for: it may hang in that read.
   *
   * @returns what the frames' source threw while it was closed, if anything.
   */
  async release(): Promise<{ readonly error: unknown } | undefined> {
    this.#timer.clear();
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#stopCallbacks?.();
    if (this.#callbacks !== undefined && this.#callbacksState !== 'done') {
      this.#callbacksState = 'done';
      letGo(this.#callbacks)?.catch(() => undefined);
    }
    const before = this.#framesState;
    this.#framesState = 'done';
    if (before === 'done') return undefined;
    const closing = letGo(this.#frames);
    if (before === 'asked') {
      closing?.catch(() => undefined);
      return undefined;
    }
    return closing?.then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
  }

  /** From the first read on. A stream without a reader does not listen to the signal. */
  #listen(): void {
    this.#isListening = true;
    this.#stopCallbacks = this.#queueOfCallbacks?.[onCallback]((callback) =>
      this.#arrive({ kind: 'callback', callback }),
    );
    if (this.#signal?.aborted === true) this.#onAbort();
    else this.#signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** The next frame of a source that has it at once; else it will arrive. */
  #askForFrame(): Arrival | undefined {
    this.#sinceFrame = 0;
    if (this.#isClosed) return { kind: 'closed' };
    if (this.#framesState === 'done') return { kind: 'ended' };
    if (this.#framesState === 'asked') return undefined;
    try {
      const next = this.#frames.next();
      if (!isPromise(next)) return this.#frameArrival(next);
      this.#framesState = 'asked';
      next.then(
        (result) => this.#arrive(this.#frameArrival(result)),
        (error: unknown) => this.#arrive(this.#threw(error)),
      );
      return undefined;
    } catch (error) {
      return this.#threw(error);
    }
  }

  #frameArrival(result: IteratorResult<CsdkFrame>): Arrival {
    if (result.done === true) {
      this.#framesState = 'done';
      return { kind: 'ended' };
    }
    if (this.#framesState === 'asked') this.#framesState = 'idle';
    return { kind: 'frame', frame: result.value };
  }

  #threw(error: unknown): Arrival {
    this.#framesState = 'done';
    return { kind: 'threw', error };
  }

  #askForCallback(): void {
    if (this.#callbacks === undefined || this.#callbacksState !== 'idle') return;
    if (this.#queue.length >= readAhead) return;
    this.#callbacksState = 'asked';
    const failed = (error: unknown): void => {
      if (this.#callbacksState === 'done') return;
      this.#callbacksState = 'done';
      this.#arrive({ kind: 'callbacksFailed', error });
    };
    try {
      this.#callbacks.next().then((result) => {
        if (this.#callbacksState === 'done') return;
        this.#callbacksState = result.done === true ? 'done' : 'idle';
        if (result.done === true) return;
        this.#arrive({ kind: 'callback', callback: result.value });
        this.#askForCallback();
      }, failed);
    } catch (error) {
      failed(error);
    }
  }

  #arrive(arrival: Arrival): void {
    if (!this.#wakeUp(arrival)) this.#queue.push(arrival);
  }

  /** @returns false if no reader waits. */
  #wakeUp(arrival: Arrival): boolean {
    const wake = this.#wake;
    if (wake === undefined) return false;
    this.#wake = undefined;
    this.#timer.clear();
    if (this.#leftMs !== undefined) this.#leftMs -= this.#clock.monotonicMs() - this.#waitsSinceMs;
    wake(arrival);
    return true;
  }
}

function isCallingQueue(callbacks: AsyncIterable<CsdkCallback>): callbacks is CallingQueue {
  return onCallback in callbacks;
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value;
}

/** Tells a source that no more is read. If the source throws at once, the result is a rejection. */
async function letGo(iterator: AsyncIterator<unknown> | Iterator<unknown>): Promise<void> {
  await iterator.return?.();
}
