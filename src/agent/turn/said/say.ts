import type {
  AssistantContent,
  AssistantMessage,
  AssistantMessageEvent,
  MessageWriter,
  SessionEvent,
} from '@sluice/sdk/stream';

/** Says one message of an agent, a word at a time. The events are no async generator, which makes three promises for a word. */
export function* say(
  writer: MessageWriter,
  blocks: readonly Exclude<AssistantContent, { type: 'error' }>[],
): Generator<SessionEvent> {
  for (const block of blocks)
    if (block.type === 'toolCall') yield* writer.call(block);
    else {
      const whole = block.type === 'text' ? block.text : block.thinking;
      for (const delta of whole.split(/(?<=\s)(?=\S)/)) yield* writer.grow(block.type, delta);
    }
  yield* writer.end();
}

/** The events of a message that is there as a whole: each block is one piece. */
export function saidWhole(message: AssistantMessage): readonly SessionEvent[] {
  const update = (assistantMessageEvent: AssistantMessageEvent) =>
    ({ type: 'message_update', message, assistantMessageEvent }) as const;
  const updates = message.content.flatMap((block, contentIndex) => {
    if (block.type !== 'text' && block.type !== 'thinking') return [];
    const { type } = block;
    const content = block.type === 'text' ? block.text : block.thinking;
    const at = { contentIndex, partial: message };
    return [
      update({ type: `${type}_start`, ...at }),
      update({ type: `${type}_delta`, delta: content, ...at }),
      update({ type: `${type}_end`, content, ...at }),
    ];
  });
  return [{ type: 'message_start', message }, ...updates, { type: 'message_end', message }];
}
