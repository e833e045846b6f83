import type { Clock, TimerHandle } from '../../kernel/index.js';
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
export interface ArrivalSources {
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
export function arrivalsOf({ messages, callbacks, signal, clock }: ArrivalSources) {
  const calling = callbacks !== undefined && isCallingQueue(callbacks) ? callbacks : undefined;
  const called = calling === undefined ? callbacks?.[Symbol.asyncIterator]() : undefined;
  const onAbort = (): void => arrive({ kind: 'aborted' });
  const queue: Arrival[] = [];
  let wakeReader: ((arrival: Arrival) => void) | undefined;
  let stopCallbacks: (() => void) | undefined;
  let timer: TimerHandle | undefined;
  let framesState: 'idle' | 'asked' | 'done' = 'idle';
  let callbacksState: 'idle' | 'asked' | 'done' = 'idle';
  /** Arrivals since a frame was asked for. */
  let sinceFrame = 0;
  let isClosed = false;
  let isListening = false;
  const frames =
    Symbol.asyncIterator in messages
      ? messages[Symbol.asyncIterator]()
      : messages[Symbol.iterator]();

  /** Sets the timer anew, or stops it. */
  function wakeAfter(ms: number | undefined): void {
    if (timer !== undefined) clock.clearTimeout(timer);
    timer = ms === undefined ? undefined : clock.setTimeout(() => arrive({ kind: 'timedOut' }), ms);
  }

  /** From the first read on. A stream without a reader does not listen to the signal. */
  function listen(): void {
    isListening = true;
    stopCallbacks = calling?.[onCallback]((callback) => arrive({ kind: 'callback', callback }));
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
  }

  /** The next frame of a source that has it at once; else it will arrive. */
  function askForFrame(): Arrival | undefined {
    sinceFrame = 0;
    if (isClosed) return { kind: 'closed' };
    if (framesState === 'done') return { kind: 'ended' };
    if (framesState === 'asked') return undefined;
    try {
      const next = frames.next();
      if (!isPromise(next)) return frameArrival(next);
      framesState = 'asked';
      next.then(
        (result) => arrive(frameArrival(result)),
        (error: unknown) => arrive(threw(error)),
      );
      return undefined;
    } catch (error) {
      return threw(error);
    }
  }

  function frameArrival(result: IteratorResult<CsdkFrame>): Arrival {
    if (result.done === true) {
      framesState = 'done';
      return { kind: 'ended' };
    }
    if (framesState === 'asked') framesState = 'idle';
    return { kind: 'frame', frame: result.value };
  }

  function threw(error: unknown): Arrival {
    framesState = 'done';
    return { kind: 'threw', error };
  }

  function askForCallback(): void {
    if (called === undefined || callbacksState !== 'idle') return;
    if (queue.length >= readAhead) return;
    callbacksState = 'asked';
    const failed = (error: unknown): void => {
      if (callbacksState === 'done') return;
      callbacksState = 'done';
      arrive({ kind: 'callbacksFailed', error });
    };
    try {
      called.next().then((result) => {
        if (callbacksState === 'done') return;
        callbacksState = result.done === true ? 'done' : 'idle';
        if (result.done === true) return;
        arrive({ kind: 'callback', callback: result.value });
        askForCallback();
      }, failed);
    } catch (error) {
      failed(error);
    }
  }

  function arrive(arrival: Arrival): void {
    const wake = wakeReader;
    wakeReader = undefined;
    if (wake === undefined) queue.push(arrival);
    else wake(arrival);
  }

  return {
    /** The next one: at once where it is there, else as soon as it comes. One call at a time. */
    next(): Arrival | Promise<Arrival> {
      if (!isListening) listen();
      askForCallback();
      // Callbacks that come without a pause must not keep the frames waiting for ever.
      const due = ++sinceFrame < longestLead ? undefined : askForFrame();
      const ready = due ?? queue.shift();
      if (ready !== undefined) return ready;
      const now = askForFrame() ?? queue.shift(); // asking may abort, or close, at once
      if (now !== undefined) return now;
      return new Promise((resolve) => {
        wakeReader = resolve;
      });
    },
    wakeAfter,
    /** Wakes the reader that waits. What it waited for goes to the next one. */
    interrupt(): void {
      const wake = wakeReader;
      wakeReader = undefined;
      wake?.({ kind: 'left' });
    },
    /** Wakes the reader for good. */
    close(): void {
      isClosed = true;
      wakeReader?.({ kind: 'closed' });
    },
    /**
     * Lets go of both sources, once. A source that is being read cannot be waited for: it may hang in that read.
     *
     * @returns what the frames' source threw while it was closed, if anything.
     */
    async release(): Promise<{ readonly error: unknown } | undefined> {
      wakeAfter(undefined);
      signal?.removeEventListener('abort', onAbort);
      stopCallbacks?.();
      if (called !== undefined && callbacksState !== 'done') {
        callbacksState = 'done';
        letGo(called)?.catch(() => undefined);
      }
      const before = framesState;
      framesState = 'done';
      if (before === 'done') return undefined;
      const closing = letGo(frames);
      if (before === 'asked') {
        closing?.catch(() => undefined);
        return undefined;
      }
      return closing?.then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
    },
  };
}

/** The parts of `arrivalsOf` that others use. */
export type Arrivals = ReturnType<typeof arrivalsOf>;

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
