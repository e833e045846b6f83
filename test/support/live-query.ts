import type { CsdkFrame } from '../../src/claude/index.js';
import { deferred } from './faults-clock.js';

type Step = { readonly frame: CsdkFrame } | { readonly error: Error } | 'end';

/** A query that gives its frames when a test says so, and counts what is asked of it. */
export class LiveQuery implements AsyncIterableIterator<CsdkFrame> {
  /** How many frames were asked for. */
  asked = 0;
  /** How often it was told to let go. */
  closed = 0;
  readonly #steps: Step[] = [];
  #waiting: ((step: Step) => void) | undefined;
  #onWait = deferred();

  give(...frames: readonly CsdkFrame[]): void {
    for (const frame of frames) this.#push({ frame });
  }

  end(): void {
    this.#push('end');
  }

  fail(error: Error): void {
    this.#push({ error });
  }

  /** Resolves when a frame is asked for that is not there. */
  async waited(): Promise<void> {
    if (this.#waiting === undefined) await this.#onWait.promise;
  }

  /** Resolves when everything was taken, and more is asked for. */
  async drained(): Promise<void> {
    while (this.#steps.length > 0 || this.#waiting === undefined)
      await new Promise((resolve) => setImmediate(resolve));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<CsdkFrame>> {
    this.asked++;
    const step =
      this.#steps.shift() ??
      (await new Promise<Step>((resolve) => {
        this.#waiting = resolve;
        this.#onWait.resolve(undefined);
      }));
    if (step === 'end') return { done: true, value: undefined };
    if ('error' in step) throw step.error;
    return { done: false, value: step.frame };
  }

  async return(): Promise<IteratorResult<CsdkFrame>> {
    this.closed++;
    return { done: true, value: undefined };
  }

  #push(step: Step): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#steps.push(step);
    else {
      this.#onWait = deferred();
      waiting(step);
    }
  }
}
