import type { AssistantContent, AssistantMessage, SessionEvent } from '../../stream/index.js';

/** A message of an agent, and its events. */
interface Said {
  /** It grows while its events are read: every event refers to it. */
  readonly message: AssistantMessage;
  readonly events: Iterable<SessionEvent>;
}

/** Says one message of an agent, a word at a time. The events are no async generator, which makes three promises for a word. */
export function say(
  by: Pick<AssistantMessage, 'provider' | 'model'>,
  blocks: readonly AssistantContent[],
): Said {
  const content: AssistantContent[] = [];
  const calls = blocks.some(({ type }) => type === 'toolCall');
  const message: AssistantMessage = {
    role: 'assistant',
    content,
    ...by,
    stopReason: calls ? 'toolUse' : 'stop',
  };
  return { message, events: eventsOf(message, content, blocks) };
}

function* eventsOf(
  message: AssistantMessage,
  content: AssistantContent[],
  blocks: readonly AssistantContent[],
): Generator<SessionEvent> {
  yield { type: 'message_start', message };
  for (const [contentIndex, block] of blocks.entries()) {
    content.push(block);
    if (block.type === 'toolCall') continue;
    const { type } = block;
    const whole = block.type === 'text' ? block.text : block.thinking;
    const at = { contentIndex, partial: message };
    const update = (assistantMessageEvent: Update): SessionEvent => ({
      type: 'message_update',
      message,
      assistantMessageEvent,
    });
    let grown = '';
    content[contentIndex] = piece(type, grown);
    yield update({ type: `${type}_start`, ...at });
    for (const delta of whole.match(/\S+\s*|\s+/g) ?? []) {
      grown += delta;
      content[contentIndex] = piece(type, grown);
      yield update({ type: `${type}_delta`, delta, ...at });
    }
    yield update({ type: `${type}_end`, content: whole, ...at });
  }
  yield { type: 'message_end', message };
}

function piece(type: 'text' | 'thinking', grown: string): AssistantContent {
  return type === 'text' ? { type, text: grown } : { type, thinking: grown };
}

type Update = Extract<SessionEvent, { type: 'message_update' }>['assistantMessageEvent'];
