import { type Clock, onAbort, Timer } from '../../kernel/index.js';

/** The end of the waits of a turn: some time after the turn was told to stop. */
export interface Cut extends Disposable {
  /** Aborted `graceMs` after the turn's signal. */
  readonly signal: AbortSignal;
}

/** Makes the cut that follows a signal. Disposing it takes its timer back. */
export function cutAfter(signal: AbortSignal, clock: Clock, graceMs: number): Cut {
  const cut = new AbortController();
  const timer = new Timer(clock);
  const listening = onAbort(signal, () => timer.set(graceMs, () => cut.abort(signal.reason)));
  return {
    signal: cut.signal,
    [Symbol.dispose]: () => {
      listening[Symbol.dispose]();
      timer.clear();
    },
  };
}

/**
 * Waits for a promise until a signal aborts. A later result is observed, and lost.
 *
 * @returns the value of the promise, or nothing if the signal came first.
 * @throws the reason of the promise, if it rejects first.
 */
export function untilCut<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
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
 * using cut = cutAfter(signal, systemClock, 1_000);
 * for await (const event of cutOff(provider.run(request), cut.signal)) handle(event);
 */
export function cutOff<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncIterableIterator<T, void> {
  return new CutOff(source, signal);
}

/** No generator: an item costs two promises besides those of its source. */
class CutOff<T> implements AsyncIterableIterator<T, void> {
  readonly #source: AsyncIterable<T>;
  readonly #signal: AbortSignal;
  #iterator: AsyncIterator<T> | undefined;
  #listening: Disposable | undefined;
  /** Ends the read that waits now. */
  #wake: (() => void) | undefined;
  #hasEnded = false;

  constructor(source: AsyncIterable<T>, signal: AbortSignal) {
    this.#source = source;
    this.#signal = signal;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T, void>> {
    return new Promise((resolve, reject) => {
      if (this.#hasEnded || this.#signal.aborted) {
        resolve(this.#end());
        return;
      }
      this.#wake = () => resolve(this.#end());
      this.#listening ??= onAbort(this.#signal, () => this.#wake?.());
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
