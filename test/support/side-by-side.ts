/** Work that is counted while it runs. */
export interface SideBySide {
  /** How many pieces of work have run. */
  readonly ran: number;
  /** How many of them ran at once, at most. */
  readonly most: number;
  /** Runs a piece of work, which lasts for one turn of the event loop at least. */
  run<T>(work: () => T | Promise<T>): Promise<T>;
}

/** Counts how many pieces of work run side by side. */
export function sideBySide(): SideBySide {
  let running = 0;
  const seen = { ran: 0, most: 0 };
  return {
    get ran() {
      return seen.ran;
    },
    get most() {
      return seen.most;
    },
    run: async (work) => {
      running++;
      seen.ran++;
      seen.most = Math.max(seen.most, running);
      try {
        await new Promise(setImmediate);
        return await work();
      } finally {
        running--;
      }
    },
  };
}
