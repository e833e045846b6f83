import { type Deferred, deferred } from '../../kernel/index.js';

/** Knows when a run's compactions are done, and the tries that follow them. */
export class CompactionWait {
  #isInFlight = false;
  #retries = 0;
  #isClosed = false;
  #pending: Deferred<void> | undefined;

  get isInFlight(): boolean {
    return this.#isInFlight;
  }

  get isPending(): boolean {
    return this.#isInFlight || this.#retries > 0;
  }

  start(): void {
    this.#isInFlight = true;
  }

  /** A compaction ended. The run that is tried again ends with `agentEnded`. */
  end(willRetry: boolean): void {
    this.#isInFlight = false;
    if (willRetry) this.#retries++;
    else this.#settleIfDone();
  }

  agentEnded(): void {
    if (this.#retries > 0) this.#retries--;
    this.#settleIfDone();
  }

  /** Resolves once nothing is in flight and nothing is tried again; rejects with an `AbortError` after `close`. */
  async wait(): Promise<void> {
    if (this.#isClosed) throw aborted();
    if (!this.isPending) await undefined; // what ends now may begin one
    if (this.#isClosed) throw aborted();
    if (this.isPending) await (this.#pending ??= deferred()).promise;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#pending?.reject(aborted());
    this.#pending = undefined;
  }

  #settleIfDone(): void {
    if (this.isPending) return;
    this.#pending?.resolve();
    this.#pending = undefined;
  }
}

function aborted(): Error {
  const error = new Error(
    'The reply callbacks were unsubscribed while a compaction was waited for.',
  );
  error.name = 'AbortError';
  return error;
}
