/** Values by key, of which the oldest are forgotten. */
export class Recent<V> {
  readonly #kept = new Map<string, V>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): V | undefined {
    return this.#kept.get(key);
  }

  set(key: string, value: V): void {
    this.#kept.delete(key);
    this.#kept.set(key, value);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > this.#most && oldest !== undefined) this.#kept.delete(oldest);
  }

  /** Takes a value out. */
  take(key: string): V | undefined {
    const value = this.#kept.get(key);
    this.#kept.delete(key);
    return value;
  }
}
