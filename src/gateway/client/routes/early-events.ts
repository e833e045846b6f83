import type { Clock, TimerHandle } from '../../../kernel/index.js';

/** Events of runs that are not registered yet, at most. */
const maxEvents = 1_000;

/** Characters of them, at most. */
const maxChars = 4 * 1024 * 1024;

/** How long after an acknowledgement its run may be registered. */
const graceMs = 1_000;

interface Early<Event> {
  readonly event: Event;
  readonly chars: number;
}

/**
 * Events that come before their run is registered: a gateway may begin to tell of a run before it has acknowledged it.
 * They are kept only while an acknowledgement is waited for, and shortly after.
 */
export class EarlyEvents<Event extends { readonly runId: string }> {
  readonly #clock: Clock;
  readonly #onDrop: () => void;
  #kept: Early<Event>[] = [];
  #chars = 0;
  #waiting = 0;
  #timer: TimerHandle | undefined;

  constructor(clock: Clock, onDrop: () => void) {
    this.#clock = clock;
    this.#onDrop = onDrop;
  }

  get size(): number {
    return this.#kept.length;
  }

  /** An acknowledgement is waited for, until what is returned is disposed. */
  expect(): Disposable {
    this.#waiting++;
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (isOver) return;
        isOver = true;
        this.#waiting--;
        this.#closeSoon();
      },
    };
  }

  /** Keeps an event, if it may be wanted. @param chars the length of its frame. */
  keep(event: Event, chars: number): void {
    if (this.#waiting === 0 && this.#timer === undefined) return;
    this.#kept.push({ event, chars });
    this.#chars += chars;
    while (this.#kept.length > maxEvents || this.#chars > maxChars) {
      this.#chars -= this.#kept.shift()?.chars ?? 0;
      this.#onDrop();
    }
  }

  /** Takes the events of a run out, in the order in which they came. */
  take(runId: string): readonly Event[] {
    if (this.#kept.length === 0) return [];
    const taken = this.#kept.filter(({ event }) => event.runId === runId);
    if (taken.length === 0) return [];
    this.#kept = this.#kept.filter(({ event }) => event.runId !== runId);
    this.#chars = this.#kept.reduce((sum, { chars }) => sum + chars, 0);
    return taken.map(({ event }) => event);
  }

  clear(): void {
    this.#kept = [];
    this.#chars = 0;
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #closeSoon(): void {
    if (this.#waiting > 0) return;
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = undefined;
      if (this.#waiting === 0) this.clear();
    }, graceMs);
    this.#timer.unref?.();
  }
}
