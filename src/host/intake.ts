import type { RunningAccount } from './accounts.js';

/** Counts the accounts that still take in, and tells when the last of them has ended. */
export class Intake {
  readonly #onEnded: (reason: string) => void;
  readonly #open = new Set<RunningAccount>();
  #isComplete = false;
  #reason = 'no more input';

  constructor(onEnded: (reason: string) => void) {
    this.#onEnded = onEnded;
  }

  add(account: RunningAccount): void {
    this.#open.add(account);
  }

  end(account: RunningAccount, reason: string): void {
    if (!this.#open.delete(account)) return;
    this.#reason = reason;
    this.#tell();
  }

  /** Every account has been added. */
  complete(): void {
    this.#isComplete = true;
    this.#tell();
  }

  #tell(): void {
    if (this.#isComplete && this.#open.size === 0) this.#onEnded(this.#reason);
  }
}
