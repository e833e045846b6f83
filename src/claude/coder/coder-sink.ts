import { type CoderBody, coderEvent } from './blocks/coder-body.js';
import type { CoderStreamEvent } from './blocks/coder-event.js';

/** Takes what is told, and completes it: events of one item share its time. */
export function coderSink(now: () => number) {
  let waiting: CoderStreamEvent[] = [];
  let ts = 0;
  let current: unknown;
  /** Tells an event of that item. */
  const emit = (body: CoderBody): void => emitOf(current, body);

  /** Tells an event of another item. */
  function emitOf(item: unknown, body: CoderBody): void {
    waiting.push(coderEvent(body, ts, item));
  }

  return {
    emit,
    /** From here on, events are made of this. */
    about(item: unknown): void {
      current = item;
      ts = now();
    },
    emitOf,
    /** The item that events are made of now. */
    current: (): unknown => current,
    /** The events since the last time. */
    take(): readonly CoderStreamEvent[] {
      const events = waiting;
      if (events.length > 0) waiting = [];
      return events;
    },
  };
}

/** The parts of `coderSink` that others use. */
export type CoderSink = ReturnType<typeof coderSink>;
