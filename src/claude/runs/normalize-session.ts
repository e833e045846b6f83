import { leavable, type SessionEvent } from '@sluice/sdk/stream';
import type { CsdkFrame } from '../frames/frame.js';
import type { NormalizeOptions } from '../session/normalize-options.js';
import { SessionReading } from './session-reading.js';

/**
 * Turns the frames of one CSDK run into session events: text and thinking, complete messages, tool calls with
 * their progress and results, compactions, and the end. Each visible text is emitted once, with partial messages or
 * without. The rules are in spec/csdk-normalization.md.
 *
 * The frames' source is read one frame at a time, as the events are wanted. It never throws what the source throws:
 * that is an `agent_end` with an error. When it ends, or its reader stops, both sources are told to let go.
 *
 * @throws `session-out-of-order` where `check` is on and an event breaks the order.
 * @example
 * for await (const event of normalizeSession(query({ prompt }), { signal }))
 *   if (event.type === 'message_end') console.log(event.message);
 */
export function normalizeSession(
  messages: AsyncIterable<CsdkFrame> | Iterable<CsdkFrame>,
  options: NormalizeOptions = {},
): AsyncGenerator<SessionEvent> {
  const reading = new SessionReading(messages, options);
  return leavable(eventsOf(reading), reading);
}

async function* eventsOf(reading: SessionReading): AsyncGenerator<SessionEvent> {
  try {
    for (;;) {
      const next = reading.next();
      const event = next instanceof Promise ? await next : next;
      if (event === undefined) return;
      yield event;
    }
  } finally {
    await reading.release();
  }
}
