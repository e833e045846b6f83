import type { AssistantContent, AssistantMessage, SessionEvent } from '../../stream/index.js';

/** Streams one message of an agent, a word at a time. */
export async function* say(
  by: Pick<AssistantMessage, 'provider' | 'model'>,
  blocks: readonly AssistantContent[],
): AsyncGenerator<SessionEvent, AssistantMessage> {
  const content: AssistantContent[] = []; // grows: every event of the message refers to it
  const calls = blocks.some(({ type }) => type === 'toolCall');
  const message: AssistantMessage = {
    role: 'assistant',
    content,
    ...by,
    stopReason: calls ? 'toolUse' : 'stop',
  };
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
  return message;
}

function piece(type: 'text' | 'thinking', grown: string): AssistantContent {
  return type === 'text' ? { type, text: grown } : { type, thinking: grown };
}

type Update = Extract<SessionEvent, { type: 'message_update' }>['assistantMessageEvent'];
