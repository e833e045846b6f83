import type { StreamDelta } from '../../stream/index.js';

/**
 * Deltas that wait for their reader: the newest of each phase, so three at most. A snapshot takes the place of the one
 * before it; a `final` or an `error` is the last, and is never dropped (stream §4.5).
 */
export class DeltaQueue {
  #waiting: StreamDelta[] = [];
  #wake: (() => void) | undefined;
  #isClosed = false;

  /** Adds one. After a `final`, an `error` or `close` it is dropped. */
  push(delta: StreamDelta): void {
    if (this.#isClosed) return;
    this.#waiting = this.#waiting.filter(({ phase }) => phase !== delta.phase);
    this.#waiting.push(delta);
    if (delta.phase === 'final' || delta.phase === 'error') this.#isClosed = true;
    this.#wake?.();
  }

  /** Ends the stream now: who reads has left. */
  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
    this.#wake?.();
  }

  /** The deltas, until the last one or `close`. Read once. */
  async *read(): AsyncGenerator<StreamDelta, void> {
    for (;;) {
      const delta = this.#waiting.shift();
      if (delta !== undefined) yield delta;
      else if (this.#isClosed) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
