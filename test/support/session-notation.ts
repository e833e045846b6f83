import type { ToolPartial } from '../../src/claude/index.js';
import type { AssistantMessageEvent, SessionEvent } from '../../src/sdk/stream/index.js';

/**
 * Session events in the notation of the case table: `AS AE(...)` agent_start and agent_end, `MS ME(stopReason)` messages,
 * `TSn TDn"..." TEn"..."` text, `HS HD HE` thinking, `XS(id,name,args) XU(id,what) XE(id,name,ok|err,result)` tools,
 * `CS CE(retry=...)` compaction.
 */
export function sessionNotation(events: readonly SessionEvent[]): string {
  return events.map(wordOf).join(' ');
}

/** The notation without the ids of messages, which session events do not have. */
export function withoutMessageIds(notation: string): string {
  return notation.replace(/MS\(\w+\)/g, 'MS').replace(/ME\(\w+,/g, 'ME(');
}

function wordOf(event: SessionEvent): string {
  switch (event.type) {
    case 'agent_start':
      return 'AS';
    case 'agent_end':
      if (event.aborted === true) return 'AE(abort)';
      if (event.error === undefined) return 'AE(ok)';
      return `AE(err:${failureOf(event.error)})`;
    case 'message_start':
      return 'MS';
    case 'message_end':
      return `ME(${event.message.stopReason})`;
    case 'message_update':
      return updateWord(event.assistantMessageEvent);
    case 'tool_execution_start':
      return `XS(${event.toolCallId},${event.toolName},${JSON.stringify(event.args)})`;
    case 'tool_execution_update':
      return `XU(${event.toolCallId},${partialWord(event.partialResult as ToolPartial)})`; // the normalizer's own
    case 'tool_execution_end': {
      const how = event.isError ? 'err' : 'ok';
      return `XE(${event.toolCallId},${event.toolName},${how},${JSON.stringify(event.result)})`;
    }
    case 'auto_compaction_start':
      return 'CS';
    case 'auto_compaction_end':
      return event.errorMessage === undefined ? `CE(retry=${event.willRetry})` : 'CE(err)';
  }
}

function failureOf({ subtype, message }: { subtype: string; message: string }): string {
  return subtype === 'stream_closed' || subtype === 'threw' ? subtype : message;
}

function updateWord(event: AssistantMessageEvent): string {
  const [block = '', phase = ''] = event.type.split('_');
  const word = `${block === 'text' ? 'T' : 'H'}${phase.charAt(0).toUpperCase()}${event.contentIndex}`;
  if ('delta' in event) return `${word}${JSON.stringify(event.delta)}`;
  return 'content' in event ? `${word}${JSON.stringify(event.content)}` : word;
}

function partialWord(partial: ToolPartial): string {
  switch (partial.kind) {
    case 'progress':
      return `${partial.elapsedSeconds}s`;
    case 'task':
      return `task ${partial.phase}`;
    case 'subagent':
      return `${partial.lane} ${partial.block.type}`;
    default:
      return partial.kind;
  }
}
