import type { Store } from '@sluice/journal';
import { oneLine } from 'sluice-kernel/internal';
import type { Suspension } from '../lanes/suspension.js';

/**
 * The writes of one turn to its store. None of them is waited for by itself: they are persisted before a tool of the turn runs,
 * and with or before the next send of the turn (durability §6.9). One that the journal fails suspends the message.
 *
 * @example
 * const writes = new TurnWrites(store);
 * writes.add(store.appendMessage(sessionId, message, { mayWait: true }));
 * await writes.kept(); // throws what the store said
 */
export class TurnWrites {
  readonly #store: Pick<Store, 'hurry'>;
  readonly #suspension: Suspension | undefined;
  readonly #waiting = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  constructor(store: Pick<Store, 'hurry'>, suspension?: Suspension) {
    this.#store = store;
    this.#suspension = suspension;
  }

  /** The store lets writes wait. If not, each of its writes is waited for before the next call. */
  get mayWait(): boolean {
    return this.#store.hurry !== undefined;
  }

  /** @returns the write itself, if it is to be waited for. */
  add(write: Promise<void>): Promise<void> | undefined {
    const settled = write.then(
      () => void this.#waiting.delete(settled),
      (error: unknown) => {
        this.#waiting.delete(settled);
        this.#failure ??= { error };
        this.#suspension?.by(error);
      },
    );
    this.#waiting.add(settled);
    return this.mayWait ? undefined : write;
  }

  /** @throws what the store has said of a write so far. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /**
   * As `kept`, for a caller that does not fail with them.
   *
   * @returns why not all of them are persisted, if they are not; nothing, without a promise, if all of them are already.
   */
  problem(): Promise<string | undefined> | undefined {
    if (this.#waiting.size === 0 && this.#failure === undefined) return undefined;
    return this.kept().then(
      () => undefined,
      (error: unknown) => `the transcript was not written: ${oneLine(error)}`,
    );
  }

  /** Resolves when all of them are persisted; each call waits for all. @throws what the store said of the first that was not. */
  async kept(): Promise<void> {
    this.#store.hurry?.();
    await Promise.all(this.#waiting);
    this.check();
  }
}
