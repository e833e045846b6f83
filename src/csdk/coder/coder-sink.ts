import { type CoderBody, type CoderStreamEvent, coderEvent } from './blocks/coder-event.js';

/** Takes what is told, and completes it: events of one item share its time. */
export class CoderSink {
  readonly #now: () => number;
  #events: CoderStreamEvent[] = [];
  #ts = 0;
  #item: unknown;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** From here on, events are made of this. */
  about(item: unknown): void {
    this.#item = item;
    this.#ts = this.#now();
  }

  /** Tells an event of that item. */
  readonly emit = (body: CoderBody): void => this.emitOf(this.#item, body);

  /** Tells an event of another item. */
  emitOf(item: unknown, body: CoderBody): void {
    this.#events.push(coderEvent(body, this.#ts, item));
  }

  /** The events since the last time. */
  take(): readonly CoderStreamEvent[] {
    const events = this.#events;
    if (events.length > 0) this.#events = [];
    return events;
  }
}
