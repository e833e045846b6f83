import { deferred } from '../value/deferred.js';
import type { Clock, TimerHandle } from './ports.js';

/** One timer that can be set again and again. A new time takes the place of the one before. */
export class Timer implements Disposable {
  readonly #clock: Clock;
  #handle: TimerHandle | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The timer is set and has not fired. */
  get isSet(): boolean {
    return this.#handle !== undefined;
  }

  /** @param delayMs no timer is set if it is undefined. */
  set(delayMs: number | undefined, callback: () => void): void {
    this.clear();
    if (delayMs === undefined) return;
    this.#handle = this.#clock.setTimeout(() => {
      this.#handle = undefined;
      callback();
    }, delayMs);
  }

  /** Sets a timer that does not keep the process alive. */
  setIdly(delayMs: number, callback: () => void): void {
    this.set(delayMs, callback);
    this.#handle?.unref?.();
  }

  clear(): void {
    if (this.#handle !== undefined) this.#clock.clearTimeout(this.#handle);
    this.#handle = undefined;
  }

  [Symbol.dispose](): void {
    this.clear();
  }
}

/** The part of an `AbortSignal` that waits need. A signal of Node costs 10 times as much as an object with these. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: StopListener, how?: { readonly once: boolean }): void;
  removeEventListener(type: 'abort', listener: StopListener): void;
}

/** Hears of a stop, once. */
export type StopListener = (() => void) | { handleEvent(): void };

/**
 * Calls a function when a signal aborts, or at once if the signal is aborted already. Disposing the result takes the
 * listener back.
 */
export function onAbort(signal: StopSignal | undefined, callback: () => void): Disposable {
  signal?.addEventListener('abort', callback, { once: true });
  if (signal?.aborted === true) callback();
  return { [Symbol.dispose]: () => signal?.removeEventListener('abort', callback) };
}

/**
 * Waits, unless its signal aborts first.
 *
 * @returns whether the time has passed.
 * @example
 * await pause(clock, 1_000, signal);
 */
export async function pause(
  clock: Clock,
  delayMs: number,
  signal: Pick<AbortSignal, 'aborted' | 'reason' | `${'add' | 'remove'}EventListener`>,
): Promise<boolean> {
  if (signal.aborted) return false;
  const { promise, resolve } = deferred<boolean>();
  using timer = new Timer(clock);
  using _stopped = onAbort(signal, () => resolve(false));
  timer.set(delayMs, () => resolve(true));
  return await promise;
}

/**
 * Waits for a promise, but no longer than a time. A later result is observed, and lost.
 *
 * @param late gives the result when the time is over. If it throws, the wait rejects.
 */
export function withTimeout<T>(
  pending: PromiseLike<T>,
  timeoutMs: number,
  clock: Clock,
  late: () => T,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = new Timer(clock);
    timer.set(timeoutMs, () => resolve(new Promise((answer) => answer(late()))));
    Promise.resolve(pending)
      .then(resolve, reject)
      .finally(() => timer.clear());
  });
}
