import type { Logger } from 'sluice-kernel';
import type { SessionEvent } from './session-event.js';

/** The run that events belong to. */
interface TracedRun {
  readonly runId: string | undefined;
  readonly sessionId: string | undefined;
}

/** Writes one line for an event, at level debug: its type and ids, never its text (seed 001). */
export function traceEvent(logger: Logger, run: TracedRun, event: SessionEvent): void {
  logger.debug('session event', {
    runId: run.runId,
    sessionId: run.sessionId,
    type: event.type,
    ...details(event),
  });
}

function details(event: SessionEvent): Readonly<Record<string, unknown>> {
  switch (event.type) {
    case 'message_update': {
      const { type, contentIndex } = event.assistantMessageEvent;
      return { update: type, contentIndex };
    }
    case 'message_end':
      return { stopReason: event.message.stopReason };
    case 'tool_execution_start':
    case 'tool_execution_update':
      return { toolCallId: event.toolCallId, toolName: event.toolName };
    case 'tool_execution_end':
      return { toolCallId: event.toolCallId, toolName: event.toolName, isError: event.isError };
    case 'auto_compaction_end':
      return { willRetry: event.willRetry };
    case 'agent_end':
      return { error: event.error?.subtype, aborted: event.aborted };
    default:
      return {};
  }
}
