/** Items that wait for one reader. Who adds one may change those that wait, and then wakes the reader. */
export class Backlog<T> {
  waiting: T[] = [];
  isClosed = false;
  #wake: (() => void) | undefined;

  /** Tells the reader that there is an item, or no item any more. */
  wake(): void {
    this.#wake?.();
  }

  /** Ends the stream now: who reads has left. */
  close(): void {
    this.isClosed = true;
    this.waiting = [];
    this.wake();
  }

  /** The items, until it is closed and none waits. Read once. */
  async *read(): AsyncGenerator<T, void> {
    for (;;) {
      const item = this.waiting.shift();
      if (item !== undefined) yield item;
      else if (this.isClosed) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
