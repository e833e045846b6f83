/** The runs that somebody dispatches already, so that nobody tells them a second time. */
export class RunClaims {
  readonly #claims = new Map<string, number>();

  get size(): number {
    return this.#claims.size;
  }

  has(runId: string): boolean {
    return this.#claims.has(runId);
  }

  /** Claims a run, until what is returned is disposed. */
  add(runId: string): Disposable {
    this.#claims.set(runId, (this.#claims.get(runId) ?? 0) + 1);
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (isOver) return;
        isOver = true;
        const left = (this.#claims.get(runId) ?? 1) - 1;
        if (left > 0) this.#claims.set(runId, left);
        else this.#claims.delete(runId);
      },
    };
  }
}
