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
    for (const report of idle) report();
  }

  /** Calls back, once, when none is in flight: at once where that is so. */
  whenIdle(report: () => void): void {
    if (this.#count === 0) report();
    else this.#idle.push(report);
  }
}
