import type { AssistantMessage, AssistantMessageEvent, SessionEvent } from '@sluice/sdk/stream';
import type { CsdkFrame } from '../../index.js';

/**
 * Shapes a session event for printing, so that everything is printed once. An event of a growing message leaves out the
 * message so far, `message_start` has no content, and `agent_end` leaves out the messages, each of which its `message_end` has
 * printed. So the output grows with the text, and not with its square.
 */
export function sessionLine(event: SessionEvent): object {
  switch (event.type) {
    case 'message_start': {
      const { content, usage, stopReason, errorMessage, ...message } = event.message;
      return { type: event.type, message: { ...message, content: [] } };
    }
    case 'message_update': {
      const { partial, ...assistantMessageEvent } = event.assistantMessageEvent;
      return { type: event.type, assistantMessageEvent };
    }
    case 'agent_end': {
      const { messages, ...end } = event;
      return end;
    }
    default:
      return event;
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Checks by type the fields of an event that its place in the order depends on. */
const shapes: Readonly<Record<SessionEvent['type'], (event: Fields) => boolean>> = {
  agent_start: () => true,
  message_start: () => true,
  message_update: ({ assistantMessageEvent: update }) => isUpdate(update),
  message_end: () => true,
  tool_execution_start: hasCall,
  tool_execution_update: hasCall,
  tool_execution_end: hasCall,
  auto_compaction_start: () => true,
  auto_compaction_end: () => true,
  agent_end: () => true,
};

/** Returns whether a line of a file is a session event and no message of the SDK: they share no type. */
export function isSessionLine({ type }: CsdkFrame): boolean {
  return Object.hasOwn(shapes, type);
}

const noMessage: AssistantMessage = { role: 'assistant', content: [] };

/**
 * Reads a printed session event, to check its place in the order. The parts that are not printed are empty.
 *
 * @returns `undefined` if the line is no such event, or its place cannot be told.
 */
export function readSessionLine(line: CsdkFrame): SessionEvent | undefined {
  if (!isSessionLine(line) || !shapes[line.type as SessionEvent['type']](line)) return undefined;
  if (line.type === 'message_update') {
    const update = line.assistantMessageEvent as AssistantMessageEvent; // its shape was checked
    return {
      type: line.type,
      message: noMessage,
      assistantMessageEvent: { ...update, partial: noMessage },
    };
  }
  return line as SessionEvent; // of the rest, the order reads the type and the ids that were checked
}

function hasCall({ toolCallId }: Fields): boolean {
  return typeof toolCallId === 'string';
}

function isUpdate(update: unknown): boolean {
  if (typeof update !== 'object' || update === null || !('type' in update)) return false;
  const { type, contentIndex, delta, content } = update as Fields; // an object, whose fields are checked
  const [, phase] = /^(?:text|thinking)_(start|delta|end)$/.exec(String(type)) ?? [];
  if (phase === undefined || typeof contentIndex !== 'number') return false;
  if (phase === 'start') return true;
  return typeof (phase === 'delta' ? delta : content) === 'string';
}
