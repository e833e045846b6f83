import type { SessionEvent } from '../../../stream/index.js';

type Step = (event: SessionEvent) => Promise<void> | undefined;

/**
 * Handles events one by one, in the order they come: at once, unless one before has to wait. An event that comes out
 * of a callback waits until the event that called it is done.
 */
export class EventQueue {
  readonly #step: Step;
  #waiting: SessionEvent[] = [];
  #isStepping = false;
  #busy: Promise<void> | undefined;

  constructor(step: Step) {
    this.#step = step;
  }

  /** Resolves once the event is handled; nothing if it is already. */
  handle(event: SessionEvent): Promise<void> | undefined {
    this.#waiting.push(event);
    if (this.#busy === undefined && !this.#isStepping) {
      const wait = this.#handleWaiting();
      if (wait !== undefined) this.#busy = this.#handleRest(wait);
    }
    return this.#busy;
  }

  /** Resolves once every event that came so far is handled. */
  async settled(): Promise<void> {
    await this.#busy;
  }

  /** Drops what waits. */
  clear(): void {
    this.#waiting = [];
  }

  /** Handles what waits, up to an event that has to wait for something itself. */
  #handleWaiting(): Promise<void> | undefined {
    this.#isStepping = true;
    let wait: Promise<void> | undefined;
    while (wait === undefined) {
      const event = this.#waiting.shift();
      if (event === undefined) break;
      wait = this.#step(event);
    }
    this.#isStepping = false;
    return wait;
  }

  async #handleRest(first: Promise<void>): Promise<void> {
    let wait: Promise<void> | undefined = first;
    while (wait !== undefined) {
      await wait;
      wait = this.#handleWaiting();
    }
    this.#busy = undefined;
  }
}
