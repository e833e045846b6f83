import { Stop } from '@sluice/sdk/stream/internal';
import type { Given } from 'sluice-kernel';
import { type Clock, onAbort, type StopSignal, Timer } from 'sluice-kernel/internal';

/**
 * The end of the waits of a turn: some time after the turn was told to stop. Disposing it takes its timer back.
 *
 * @example
 * using cut = new Cut(signal, systemClock, 1_000);
 * await untilCut(answer, cut);
 */
export class Cut extends Stop {
  readonly #timer: Timer;
  readonly #listening: Disposable;

  /** @param graceMs the time from the abort of `signal` to the end of the waits. */
  constructor(signal: StopSignal, clock: Clock, graceMs: number) {
    super();
    this.#timer = new Timer(clock);
    this.#listening = onAbort(signal, () => this.#timer.set(graceMs, () => this.abort()));
  }

  override [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
    this.#timer.clear();
  }
}

/**
 * Waits for a promise until a signal aborts. A later result is observed, and lost.
 *
 * @returns the value of the promise, or nothing if the signal came first.
 * @throws the reason of the promise, if it rejects first.
 */
export function untilCut<T>(promise: Promise<T>, signal: StopSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const listening = onAbort(signal, () => resolve(undefined));
    promise.then(
      (value) => {
        listening[Symbol.dispose]();
        resolve(value);
      },
      (error: unknown) => {
        listening[Symbol.dispose]();
        reject(error);
      },
    );
  });
}

/**
 * Passes a stream on until it ends, or until the signal aborts: then it is cut off, also while a read is pending.
 * Whatever ends it, the source is told to let go.
 *
 * @example
 * for await (const event of cutOff(provider.run(request), signal)) handle(event);
 */
export function cutOff<T>(
  source: AsyncIterable<T>,
  signal: NonNullable<Given['signal']>,
): AsyncIterableIterator<T, void> {
  return new CutOff(source, signal);
}

/** No generator: an item costs two promises besides those of its source. */
export class CutOff<T> implements AsyncIterableIterator<T, void> {
  readonly #source: AsyncIterable<T>;
  readonly #signal: StopSignal;
  #iterator: AsyncIterator<T> | undefined;
  #listening: Disposable | undefined;
  /** Resolves the read that waits now. */
  #resolve: ((result: IteratorResult<T, void>) => void) | undefined;
  #hasEnded = false;

  constructor(source: AsyncIterable<T>, signal: StopSignal) {
    this.#source = source;
    this.#signal = signal;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T, void>> {
    return new Promise((resolve, reject) => {
      if (this.#hasEnded || this.#signal.aborted) return resolve(this.#end());
      this.#resolve = resolve;
      this.#listening ??= onAbort(this.#signal, () => this.#resolve?.(this.#end()));
      try {
        this.#iterator ??= this.#source[Symbol.asyncIterator]();
        this.#iterator.next().then(
          (next) => resolve(next.done === true ? this.#end('source') : next),
          (error: unknown) => {
            this.#end('source');
            reject(error);
          },
        );
      } catch (error) {
        this.#end();
        reject(error);
      }
    });
  }

  async return(): Promise<IteratorResult<T, void>> {
    return this.#end();
  }

  /** @param by `source` if the source has ended by itself. Else it is told to let go, once. */
  #end(by?: 'source'): { readonly done: true; readonly value: undefined } {
    this.#listening?.[Symbol.dispose]();
    const iterator = this.#iterator;
    // Not awaited: a source that hangs in a read would hang here, too.
    if (by === undefined && !this.#hasEnded && iterator !== undefined)
      void letGo(iterator).catch(() => undefined);
    this.#hasEnded = true;
    return { done: true, value: undefined };
  }
}

async function letGo(iterator: AsyncIterator<unknown>): Promise<void> {
  await iterator.return?.();
}
