/** How many may begin in one turn of the event loop: then timers, signals and sockets have theirs. */
const usualPerTurn = 16;

/**
 * Places for what runs: so many at once, first come first served. Few begin in one turn of the event loop, so that a
 * crowd of them does not hold it up.
 *
 * @example
 * const slots = new Slots(64);
 * await slots.take();
 * try { await answer(message); } finally { slots.give(); }
 */
export class Slots {
  readonly #limit: number;
  readonly #perTurn: number;
  /** In the order of their coming. */
  readonly #waiting = new Set<() => void>();
  /** Those that had a place before: they come first. */
  readonly #returning = new Set<() => void>();
  #taken = 0;
  /** Places that were given in this turn of the event loop. */
  #givenNow = 0;
  #isPaused = false;

  /** @param limit at least 1. */
  constructor(limit: number, perTurn = usualPerTurn) {
    this.#limit = Math.max(1, limit);
    this.#perTurn = perTurn;
  }

  /** Told whenever one that waited has got its place. */
  onTaken: (() => void) | undefined;

  /** The most that are taken at once. */
  get limit(): number {
    return this.#limit;
  }

  /** Places that are taken. */
  get taken(): number {
    return this.#taken;
  }

  /** How many wait for their first place. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Resolves when there is a place; it is then taken. */
  take(): Promise<void> {
    return new Promise((resolve) => this.next(resolve));
  }

  /** Calls back when there is a place; it is then taken. */
  next(onTaken: () => void): void {
    this.#waiting.add(onTaken);
    this.#fill();
  }

  /** Takes a place, if that waits for nothing: not for a place, and not for the next turn of the event loop. */
  takeNow(): boolean {
    let isTaken = false;
    const taken = (): void => {
      isTaken = true;
    };
    if (this.#waiting.size > 0) return false;
    this.#waiting.add(taken);
    this.#fill();
    this.#waiting.delete(taken);
    return isTaken;
  }

  /** Does as `take`, for work that gave its place back before its end. It goes before all work that has not begun. */
  retake(): Promise<void> {
    return new Promise((resolve) => {
      this.#returning.add(resolve);
      this.#fill();
    });
  }

  /** Gives no first place until it is disposed. Who had one gets it again. */
  pause(): Disposable {
    this.#isPaused = true;
    return {
      [Symbol.dispose]: () => {
        this.#isPaused = false;
        this.#fill();
      },
    };
  }

  /** Takes a place if there is one now. @returns whether there was. */
  tryTake(): boolean {
    const isTaken =
      this.#taken < this.#limit && this.#waiting.size === 0 && this.#returning.size === 0;
    if (isTaken) this.#taken++;
    return isTaken;
  }

  /** Gives a place back. */
  give(): void {
    this.#taken--;
    this.#fill();
  }

  #fill(): void {
    while (this.#taken < this.#limit && this.#givenNow < this.#perTurn) {
      const queue = this.#returning.size > 0 ? this.#returning : this.#waiting;
      if (this.#isPaused && queue === this.#waiting) return;
      const [next] = queue;
      if (next === undefined) return;
      queue.delete(next);
      this.#taken++;
      if (this.#givenNow++ === 0) setImmediate(() => this.#turn());
      next();
      this.onTaken?.();
    }
  }

  #turn(): void {
    this.#givenNow = 0;
    this.#fill();
  }
}

/** The place of a message among those that run. It is left while the message waits for another, so that others run. */
export interface Place {
  /** @param isForPerson it waits for a person, which may take days. */
  leave(isForPerson?: boolean): void;
  /** Resolves when there is a place again. Rejects if the message may not go on: it is suspended then. */
  enter(): Promise<void>;
  /** The message does not go on now, and has not ended: it is left in the journal. */
  defer?(why?: Error): void;
  /** The lane of a message that may wait in the journal alone. */
  readonly lane?: string;
}

/** The place of what has taken a slot. */
export function placeOf(slots: Slots): Place {
  return { leave: () => slots.give(), enter: () => slots.retake() };
}

/** The place of what takes no slot: a command that runs at once, say. */
export const noPlace: Place = { leave: () => undefined, enter: async () => undefined };
