/** How many updates are remembered after they were done with, so that they are not taken twice. */
const remembered = 1_000;

/**
 * The updates that were taken and are not done with yet. Telegram keeps what lies at or above the offset that it is
 * asked from, so the offset stays at the oldest of them, in whatever order they end, unless they are passed over.
 */
export class PendingUpdates {
  readonly #pending = new Set<number>();
  /** Not taken in, and not to be forgotten either: they are taken when they come again. */
  readonly #refused = new Set<number>();
  /** Done with, oldest first. */
  readonly #done = new Set<number>();
  #highest: number | undefined;
  /** Those below it were passed over. */
  #floor = Number.NEGATIVE_INFINITY;
  #waiting: (() => void)[] = [];

  /** Telegram may forget the updates below this; none before the first update. */
  get offset(): number | undefined {
    let oldest = Number.POSITIVE_INFINITY;
    for (const id of this.#pending) if (id >= this.#floor && id < oldest) oldest = id;
    for (const id of this.#refused) if (id < oldest) oldest = id;
    if (oldest < Number.POSITIVE_INFINITY) return oldest;
    return this.#highest === undefined ? undefined : Math.max(this.#highest + 1, this.#floor);
  }

  /** Returns whether the offset waits for one of them. */
  get isHeld(): boolean {
    return this.#highest !== undefined && (this.offset ?? 0) <= this.#highest;
  }

  /** Returns whether an update was taken and is not done with. */
  has(updateId: number): boolean {
    return this.#pending.has(updateId);
  }

  /**
   * The offset waits no longer for those below an id: Telegram may forget them, although they are not done with.
   *
   * @returns how many they are.
   */
  passOver(updateId: number): number {
    const floor = Math.min(updateId, ...this.#refused);
    let passed = 0;
    for (const id of this.#pending) if (id >= this.#floor && id < floor) passed++;
    this.#floor = floor;
    return passed;
  }

  /** Takes an update. @returns whether it is new. */
  take(updateId: number): boolean {
    if (this.#pending.has(updateId) || this.#done.has(updateId)) return false;
    this.#pending.add(updateId);
    if (this.#refused.delete(updateId)) return true;
    // ids begin anew after a week without updates: what is new is the highest then
    const isAnew = this.#highest === undefined || this.#highest - updateId >= remembered;
    this.#highest = isAnew ? updateId : Math.max(this.#highest ?? updateId, updateId);
    if (isAnew) this.#floor = Number.NEGATIVE_INFINITY;
    return true;
  }

  /** Says that an update was not taken in: it is new when it comes again. */
  refuse(updateId: number): void {
    if (this.#pending.delete(updateId)) this.#refused.add(updateId);
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
