import type { AssistantContent, MessageWriter, SessionEvent } from '@sluice/sdk/stream';

/** Says one message of an agent, a word at a time. The events are no async generator, which makes three promises for a word. */
export function* say(
  writer: MessageWriter,
  blocks: readonly Exclude<AssistantContent, { type: 'error' }>[],
): Generator<SessionEvent> {
  for (const block of blocks)
    if (block.type === 'toolCall') yield* writer.call(block);
    else {
      const whole = block.type === 'text' ? block.text : block.thinking;
      for (const delta of whole.match(/\S+\s*|\s+/g) ?? ['']) yield* writer.grow(block.type, delta);
    }
  yield* writer.end();
}
