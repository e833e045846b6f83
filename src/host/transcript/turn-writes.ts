import type { Store } from './store.js';

/**
 * The writes of one turn to its store. None of them is waited for by itself: they are kept before a tool of the turn runs,
 * and with or before the next send of the turn (durability §6.9).
 *
 * @example
 * const writes = new TurnWrites(store);
 * writes.add(store.appendMessage(sessionId, message, { mayWait: true }));
 * await writes.kept(); // throws what the store said
 */
export class TurnWrites {
  readonly #store: Pick<Store, 'hurry'>;
  #waiting: Promise<void>[] = [];
  #failure: { readonly error: unknown } | undefined;

  constructor(store: Pick<Store, 'hurry'>) {
    this.#store = store;
  }

  add(write: Promise<void>): void {
    const settled = write.catch((error: unknown) => {
      this.#failure ??= { error };
    });
    this.#waiting.push(settled);
  }

  /** @throws what the store has said of a write so far. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Resolves when all of them are kept. @throws what the store said of the first that was not. */
  async kept(): Promise<void> {
    this.#store.hurry?.();
    await Promise.all(this.#waiting.splice(0));
    this.check();
  }
}
