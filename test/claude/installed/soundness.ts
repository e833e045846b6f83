import { expect } from 'vitest';
import {
  type CoderStreamEvent,
  type CsdkFrame,
  checkOrdering,
  coderStream,
} from '../../../src/claude/index.js';
import type { SessionEvent } from '../../../src/sdk/stream/index.js';
import type { ClaudeTurn } from './claude-lab.js';

/**
 * What holds for every run: its order, and that people see each text once, as deltas, as complete messages, and as
 * coder events.
 *
 * @param texts what the model said in the main conversation, one a message.
 */
export async function expectSound(
  { events, frames, result }: ClaudeTurn,
  texts: readonly string[],
): Promise<void> {
  expect(checkOrdering(events)).toEqual([]);
  expect(streamedTexts(events)).toEqual(texts);
  expect(result.assistantTexts).toEqual(texts);
  const coder = await coderEvents(frames.filter(({ error }) => error === undefined)); // no words of the model
  const terminals = coder.filter(({ type }) => type === 'done' || type === 'error');
  expect(terminals).toEqual(coder.slice(-1));
  expect(assistantText(coder, true)).toBe(texts.join(''));
  expect(assistantText(coder, false)).toBe(texts.join(''));
}

/** The texts of the model that deltas add up to, message by message. */
export function streamedTexts(events: readonly SessionEvent[]): readonly string[] {
  const texts: string[] = [];
  let text = '';
  for (const event of events) {
    if (event.type === 'message_start') text = '';
    if (event.type === 'message_end' && text !== '') texts.push(text);
    if (event.type !== 'message_update' || event.message.providerError !== undefined) continue;
    const { assistantMessageEvent: update } = event;
    if (update.type === 'text_delta') text += update.delta;
  }
  return texts;
}

/** The coder events of frames that were seen. */
export async function coderEvents(frames: readonly CsdkFrame[]): Promise<CoderStreamEvent[]> {
  const events: CoderStreamEvent[] = [];
  for await (const event of coderStream(frames)) events.push(event);
  return events;
}

/** What the assistant said: in pieces, or in whole messages. */
function assistantText(events: readonly CoderStreamEvent[], inPieces: boolean): string {
  return events
    .filter((event) => event.type === 'message' && event.role === 'assistant')
    .map((event) =>
      event.type === 'message' && (event.delta === true) === inPieces ? event.text : '',
    )
    .join('');
}
