/** How many updates are remembered after they were done with, so that they are not taken twice. */
const remembered = 1_000;

/** Milliseconds that an update may keep others from coming. */
const stuckMs = 1_000;

/** Updates of one chat in an answer that may keep others from coming: a tenth of the most that Telegram gives at once. */
const share = 10;

/** An update, and the chat that it came from, if it says that. */
interface UpdateOfChat {
  readonly id: number;
  readonly chat: number | undefined;
}

/**
 * The updates that were taken and are not done with yet. Telegram keeps what lies at or above the offset that it is
 * asked from, so the offset stays at the oldest of them, in whatever order they end, unless they are passed over.
 */
export class PendingUpdates {
  /** With the time of each. */
  readonly #pending = new Map<number, number>();
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
    for (const id of this.#pending.keys()) if (id >= this.#floor && id < oldest) oldest = id;
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
   * Telegram has given as many as it does, so others may wait behind them. The offset waits no longer for what was taken a second ago,
   * nor for what is before the newest ten of a chat: Telegram may forget these, although they are not done with.
   *
   * @param given also those that are done with: they take room, too.
   * @returns how many it waits for no longer.
   */
  makeRoom(given: readonly UpdateOfChat[], nowMs: number): number {
    const ofChats = new Map<number | undefined, number>();
    const last = given
      .toSorted((one, two) => two.id - one.id)
      .find(({ id, chat }) => {
        const ofChat = (ofChats.get(chat) ?? 0) + 1;
        ofChats.set(chat, ofChat);
        return ofChat > share || nowMs - (this.#pending.get(id) ?? nowMs) >= stuckMs;
      });
    if (last === undefined) return 0;
    const floor = Math.min(last.id + 1, ...this.#refused);
    const passed = [...this.#pending.keys()].filter((id) => id >= this.#floor && id < floor);
    this.#floor = Math.max(this.#floor, floor);
    return passed.length;
  }

  /** Takes an update. @returns whether it is new. */
  take(updateId: number, nowMs: number): boolean {
    if (this.#pending.has(updateId) || this.#done.has(updateId)) return false;
    this.#pending.set(updateId, nowMs);
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
