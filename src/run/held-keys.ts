/** Keys that somebody holds, each as long as one of its holders does. */
export class HeldKeys {
  readonly #counts = new Map<string, number>();

  get size(): number {
    return this.#counts.size;
  }

  has(key: string): boolean {
    return this.#counts.has(key);
  }

  /** Holds a key until the returned function is called. Later calls of that function do nothing. */
  hold(key: string): () => void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    };
  }
}
