import { type Clock, Timer } from '../../../kernel/index.js';

/** Bounds the events of runs that are not registered yet. */
const maxEvents = 1_000;

/** Bounds the characters of those events. */
const maxChars = 4 * 1024 * 1024;

/** Milliseconds after an acknowledgement in which its run may be registered. */
const graceMs = 1_000;

interface Early<Event> {
  readonly event: Event;
  readonly chars: number;
}

/**
 * Keeps events that come before their run is registered: a gateway may begin to tell of a run before it has
 * acknowledged it. They are kept only while somebody waits for an acknowledgement, and shortly after.
 */
export class EarlyEvents<Event extends { readonly runId: string }> {
  readonly #onDrop: () => void;
  readonly #grace: Timer;
  #kept: Early<Event>[] = [];
  #chars = 0;
  #waiting = 0;

  constructor(clock: Clock, onDrop: () => void) {
    this.#grace = new Timer(clock);
    this.#onDrop = onDrop;
  }

  get size(): number {
    return this.#kept.length;
  }

  /** Notes that somebody waits for an acknowledgement, until the returned function is called once. */
  expect(): () => void {
    this.#waiting++;
    return () => {
      if (--this.#waiting > 0) return;
      this.#grace.setIdly(graceMs, () => {
        if (this.#waiting === 0) this.clear();
      });
    };
  }

  /** Keeps an event, if its run may still be registered. @param chars the length of its frame. */
  keep(event: Event, chars: number): void {
    if (this.#waiting === 0 && !this.#grace.isSet) return;
    this.#kept.push({ event, chars });
    this.#chars += chars;
    while (this.#kept.length > maxEvents || this.#chars > maxChars) {
      this.#chars -= this.#kept.shift()?.chars ?? 0;
      this.#onDrop();
    }
  }

  /** Takes the events of a run out, in the order in which they came. */
  take(runId: string): readonly Event[] {
    const taken = this.#kept.filter(({ event }) => event.runId === runId);
    if (taken.length === 0) return [];
    this.#kept = this.#kept.filter(({ event }) => event.runId !== runId);
    this.#chars = this.#kept.reduce((sum, { chars }) => sum + chars, 0);
    return taken.map(({ event }) => event);
  }

  clear(): void {
    this.#kept = [];
    this.#chars = 0;
    this.#grace.clear();
  }
}
