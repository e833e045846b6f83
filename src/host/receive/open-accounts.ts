import type { RunningAccount } from '../provided/accounts.js';

/** Counts the accounts that still take in, and tells when the last of them has ended. */
export class OpenAccounts {
  readonly #onEnded: (reason: string) => void;
  readonly #open = new Set<RunningAccount>();
  #hasTakenIn = false;
  #isComplete = false;
  #reason = 'no more input';

  constructor(onEnded: (reason: string) => void) {
    this.#onEnded = onEnded;
  }

  /** Accounts that only send are no input: a host that has nothing else runs until it is stopped. */
  add(account: RunningAccount): void {
    if (account.channel.capabilities.sendsOnly === true) return;
    this.#hasTakenIn = true;
    this.#open.add(account);
  }

  end(account: RunningAccount, reason: string): void {
    if (!this.#open.delete(account)) return;
    this.#reason = reason;
    this.#tell();
  }

  /** An account goes without its input having ended: where it was the last, the host waits for its successor. */
  leave(account: RunningAccount): void {
    this.#open.delete(account);
  }

  /** Every account has been added. */
  complete(): void {
    this.#isComplete = true;
    this.#tell();
  }

  #tell(): void {
    if (this.#isComplete && this.#hasTakenIn && this.#open.size === 0) this.#onEnded(this.#reason);
  }
}
