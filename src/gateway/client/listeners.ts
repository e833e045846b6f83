/** Those who want to hear of something. What one throws does not reach the others, nor who tells. */
export class Listeners<T> {
  readonly #entries = new Set<{ readonly listener: (value: T) => void }>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Adds one, until what is returned is disposed. */
  add(listener: (value: T) => void): Disposable {
    const entry = { listener };
    this.#entries.add(entry);
    return { [Symbol.dispose]: () => void this.#entries.delete(entry) };
  }

  tell(value: T): void {
    for (const { listener } of [...this.#entries]) {
      try {
        listener(value);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  clear(): void {
    this.#entries.clear();
  }
}
