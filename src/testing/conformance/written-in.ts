import type { SessionEvent, SessionMessage } from '@sluice/sdk/stream';

/** The messages that a turn would have written. */
export function writtenIn(events: readonly SessionEvent[]): readonly SessionMessage[] {
  return events.flatMap((event): SessionMessage[] => {
    if (event.type === 'message_end') return [event.message];
    if (event.type !== 'tool_execution_end') return [];
    const { toolCallId, toolName, result, isError } = event;
    const text = typeof result === 'string' ? result : JSON.stringify(result);
    const content = [{ type: 'text' as const, text }];
    return [{ role: 'toolResult', toolCallId, toolName, content, isError }];
  });
}
