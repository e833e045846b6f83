import type { Clock, TimerHandle } from '../../kernel/index.js';
import type { Hello } from '../protocol/hello.js';
import type { LostReason } from '../protocol/lost-reason.js';

/** Decides when the runs of a lost connection are lost, too: a short drop they survive (stream §2.6). */
export class ResumeWindow {
  readonly #windowMs: number;
  readonly #clock: Clock;
  readonly #lose: (reason: LostReason, error: string) => void;
  #timer: TimerHandle | undefined;
  #welcomedAtMs: number | undefined;

  constructor(windowMs: number, clock: Clock, lose: (reason: LostReason, error: string) => void) {
    this.#windowMs = windowMs;
    this.#clock = clock;
    this.#lose = lose;
  }

  /** The connection is gone. */
  open(): void {
    if (this.#timer !== undefined) return;
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = undefined;
      this.#lose('gateway-disconnected', `the gateway was not connected for ${this.#windowMs} ms`);
    }, this.#windowMs);
    this.#timer.unref?.();
  }

  /** The connection is there again. A gateway that began after it was there before knows none of its runs. */
  close(hello: Hello): void {
    this.clear();
    const now = this.#clock.monotonicMs();
    const before = this.#welcomedAtMs;
    const uptimeMs = hello.snapshot?.uptimeMs;
    this.#welcomedAtMs = now;
    if (before !== undefined && uptimeMs !== undefined && uptimeMs < now - before)
      this.#lose('gateway-restarted', 'the gateway was restarted in the middle of the run');
  }

  clear(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
