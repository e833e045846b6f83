/** Counts the dispatches that have begun and not ended, and tells when there is none. */
export class InFlight {
  #count = 0;
  #idle: (() => void)[] = [];

  add(): void {
    this.#count++;
  }

  remove(): void {
    if (--this.#count > 0 || this.#idle.length === 0) return;
    const idle = this.#idle;
    this.#idle = [];
    for (const tell of idle) tell();
  }

  /** Calls back, once, when none is in flight: at once where that is so. */
  whenIdle(tell: () => void): void {
    if (this.#count === 0) tell();
    else this.#idle.push(tell);
  }
}
