import { mayPass } from '@sluice/journal/internal';
import type { StopSignal } from 'sluice-kernel/internal';

/**
 * Says whether the work on one message is suspended: the journal has failed, so nothing more of it is begun, and it is claimed again
 * when the journal takes writes (durability §6.13). What runs of it comes to its end, and nobody takes that for the end of the message.
 *
 * @example
 * if (parts.suspension?.by(error)) return stopped; // and not: tell the sender that it failed
 */
export class Suspension {
  #isSuspended = false;
  #isOver = false;
  #why: unknown;
  #stop: ((why: unknown) => void) | undefined;
  readonly #signal: StopSignal;
  readonly #isKept: boolean;

  /**
   * @param signal aborts when the host stops at once: the message is left to the next one.
   * @param isKept the message can be claimed again, since the journal has all of it.
   */
  constructor(signal: StopSignal, isKept: boolean) {
    this.#signal = signal;
    this.#isKept = isKept;
  }

  get isSuspended(): boolean {
    return this.#isSuspended;
  }

  /** The reason: as a rule, the error of the journal. */
  get why(): unknown {
    return this.#why;
  }

  /** Suspends it, once: the turn that runs is stopped. A send that a channel has goes on. */
  suspend(why: unknown): void {
    if (this.#isSuspended || this.#isOver) return;
    this.#isSuspended = true;
    this.#why = why;
    this.#stop?.(why);
  }

  /** Suspends it if an error is a fault of the journal that may pass. @returns whether it is suspended, also by an error before. */
  by(error: unknown): boolean {
    if (this.#isKept && mayPass(error) && !this.#signal.aborted) this.suspend(error);
    return this.#isSuspended;
  }

  /** A person has stopped the message: it ends, whatever the journal does. */
  end(): void {
    this.#isOver = true;
    this.#isSuspended = false;
  }

  /** @param stop is called when it is suspended: at once, if it is. */
  onSuspended(stop: (why: unknown) => void): void {
    this.#stop = stop;
    if (this.#isSuspended) stop(this.#why);
  }
}
