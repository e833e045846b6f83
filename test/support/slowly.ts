import type { SessionEvent } from '../../src/sdk/stream/index.js';
import type { VirtualClock } from '../../src/testing/index.js';
import { end, scripted } from './turn-lab.js';

/**
 * A provider that takes its time: one event every ten milliseconds where unsaid. Stopped, it hastens to the end of its
 * message.
 */
export function slowly(clock: VirtualClock, events: () => Iterable<SessionEvent>, stepMs = 10) {
  return scripted(async function* ({ gate, signal }) {
    let isOpen = false;
    for (const event of events()) {
      if (signal.aborted && !isOpen) break;
      if (!signal.aborted) await new Promise<void>((resolve) => clock.setTimeout(resolve, stepMs));
      if (event.type === 'message_start') isOpen = true;
      if (event.type === 'message_end') isOpen = false;
      if (event.type === 'tool_execution_end')
        await gate({ toolCallId: event.toolCallId, toolName: event.toolName, args: {} });
      yield event;
    }
    if (signal.aborted) yield end({ aborted: true });
  });
}
