import { type CoderBody, type CoderStreamEvent, coderEvent } from './blocks/coder-event.js';

/** Takes what is told, and completes it: events of one item share its time. */
export function coderSink(now: () => number) {
  let made: CoderStreamEvent[] = [];
  let ts = 0;
  let source: unknown;
  /** Tells an event of that item. */
  const emit = (body: CoderBody): void => emitOf(source, body);

  /** Tells an event of another item. */
  function emitOf(item: unknown, body: CoderBody): void {
    made.push(coderEvent(body, ts, item));
  }

  return {
    emit,

    /** From here on, events are made of this. */
    about(item: unknown): void {
      source = item;
      ts = now();
    },
    emitOf,

    /** The events since the last time. */
    take(): readonly CoderStreamEvent[] {
      const events = made;
      if (events.length > 0) made = [];
      return events;
    },
  };
}

/** The parts of `coderSink` that others use. */
export type CoderSink = ReturnType<typeof coderSink>;
