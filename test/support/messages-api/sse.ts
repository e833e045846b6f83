import type { ScriptedBlock } from './reply.js';

/** A raw event of the Messages API. */
export interface RawEvent extends Readonly<Record<string, unknown>> {
  readonly type: string;
}

/** The pieces that a text comes in: of some characters each, never within one. */
export function piecesOf(text: string): string[] {
  return text.match(/[\s\S]{1,7}/gu) ?? [''];
}

/** The events that a message is streamed as. */
export function* messageEvents(
  id: string,
  model: string,
  blocks: readonly ScriptedBlock[],
): Generator<RawEvent> {
  const usage = { input_tokens: 12, output_tokens: 1 };
  const message = { id, type: 'message', role: 'assistant', model, content: [], usage };
  yield { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } };
  yield { type: 'ping' };
  for (const [index, block] of blocks.entries()) {
    yield { type: 'content_block_start', index, content_block: emptied(block) };
    for (const delta of deltasOf(block)) yield { type: 'content_block_delta', index, delta };
    yield { type: 'content_block_stop', index };
  }
  const stop_reason = blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
  const delta = { stop_reason, stop_sequence: null };
  yield { type: 'message_delta', delta, usage: { output_tokens: 20 } };
  yield { type: 'message_stop' };
}

function emptied(block: ScriptedBlock): object {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: '' };
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'tool_use':
      return { ...block, input: {} };
  }
}

function deltasOf(block: ScriptedBlock): object[] {
  switch (block.type) {
    case 'text':
      return piecesOf(block.text).map((text) => ({ type: 'text_delta', text }));
    case 'thinking':
      return [
        ...piecesOf(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: block.signature },
      ];
    case 'tool_use':
      return piecesOf(JSON.stringify(block.input)).map((partial_json) => ({
        type: 'input_json_delta',
        partial_json,
      }));
  }
}
