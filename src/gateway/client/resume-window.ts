import { type Clock, Timer } from '../../kernel/index.js';
import type { LostReason } from '../protocol/chat-event.js';
import type { Hello } from '../protocol/hello.js';

/** Decides when the runs of a lost connection are lost, too: they survive a short drop (stream §2.6). */
export class ResumeWindow {
  readonly #windowMs: number;
  readonly #clock: Clock;
  readonly #timer: Timer;
  readonly #lose: (reason: LostReason, error: string) => void;
  #welcomedAtMs: number | undefined;

  constructor(windowMs: number, clock: Clock, lose: (reason: LostReason, error: string) => void) {
    this.#windowMs = windowMs;
    this.#clock = clock;
    this.#timer = new Timer(clock);
    this.#lose = lose;
  }

  /** Begins the window: the connection is gone. */
  open(): void {
    if (this.#timer.isSet) return;
    this.#timer.setIdly(this.#windowMs, () =>
      this.#lose('gateway-disconnected', `the gateway was not connected for ${this.#windowMs} ms`),
    );
  }

  /**
   * Ends the window: the connection is there again. A gateway that has begun since the last welcome knows none of its
   * runs.
   */
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
    this.#timer.clear();
  }
}
