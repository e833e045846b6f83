/**
 * Values that are held in memory. Together they have at most so much weight: of more than that, the value that was used first goes.
 *
 * @example
 * const held = new Held<string>(1_000, () => database.revision);
 * held.set('a', 'text', 4);
 */
export class Held<Value> {
  readonly #most: number;
  readonly #revision: () => number;
  /** The one that was used last comes last. */
  readonly #held = new Map<string, { readonly value: Value; readonly weight: number }>();
  #weight = 0;
  #heldIn = 0;

  /** @param revision all is let go of when it differs. */
  constructor(most: number, revision: () => number) {
    this.#most = most;
    this.#revision = revision;
  }

  get(key: string): Value | undefined {
    const one = this.delete(key);
    if (one === undefined) return undefined;
    this.set(key, one.value, one.weight);
    return one.value;
  }

  set(key: string, value: Value, weight = 1): void {
    this.delete(key);
    this.#held.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#held.keys())
      if (this.#weight > this.#most) this.delete(oldest);
      else return;
  }

  /** Lets go of a value. @returns the value with its weight. */
  delete(key: string) {
    const revision = this.#revision();
    if (revision !== this.#heldIn) {
      this.#held.clear();
      this.#weight = 0;
      this.#heldIn = revision;
    }
    const one = this.#held.get(key);
    this.#weight -= one?.weight ?? 0;
    this.#held.delete(key);
    return one;
  }
}
