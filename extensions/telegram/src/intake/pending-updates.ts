/** How many updates are remembered after they were done with, so that they are not taken twice. */
const remembered = 1_000;

/**
 * The updates that were taken and are not done with yet. Telegram keeps what lies at or above the offset that it is
 * asked from, so the offset stays at the oldest of them, in whatever order they end.
 */
export class PendingUpdates {
  readonly #pending = new Set<number>();
  /** Done with, oldest first. */
  readonly #done = new Set<number>();
  #highest: number | undefined;
  #waiting: (() => void)[] = [];

  /** How many are not done with. */
  get size(): number {
    return this.#pending.size;
  }

  /** What Telegram may forget lies below this; nothing does before the first update. */
  get offset(): number | undefined {
    if (this.#pending.size > 0) return Math.min(...this.#pending);
    return this.#highest === undefined ? undefined : this.#highest + 1;
  }

  /** Whether an update was taken and is not done with. */
  has(updateId: number): boolean {
    return this.#pending.has(updateId);
  }

  /** Takes an update. @returns whether it is new. */
  take(updateId: number): boolean {
    if (this.#pending.has(updateId) || this.#done.has(updateId)) return false;
    this.#pending.add(updateId);
    // ids begin anew after a week without updates: what is new is the highest then
    this.#highest =
      this.#highest !== undefined && this.#highest - updateId < remembered
        ? Math.max(this.#highest, updateId)
        : updateId;
    return true;
  }

  /** Says that an update is done with. */
  finish(updateId: number): void {
    if (!this.#pending.delete(updateId)) return;
    this.#done.add(updateId);
    for (const oldest of this.#done) {
      if (this.#done.size <= remembered) break;
      this.#done.delete(oldest);
    }
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when the next update is done with. */
  change(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}
