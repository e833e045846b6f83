import { type SessionEvent, textOf } from '../../src/sdk/stream/index.js';

/** The texts of a run as its deltas add up, message by message. */
export function streamedTexts(events: readonly SessionEvent[]): readonly string[] {
  const texts: string[] = [];
  for (const event of events) {
    if (event.type === 'message_start') texts.push('');
    if (event.type !== 'message_update') continue;
    const { assistantMessageEvent: update } = event;
    if (update.type === 'text_delta') texts.push(`${texts.pop() ?? ''}${update.delta}`);
  }
  return texts.filter((text) => text !== '');
}

/** The texts of a run as its messages have them. */
export function wholeTexts(events: readonly SessionEvent[]): readonly string[] {
  return events
    .flatMap((event) => (event.type === 'message_end' ? [textOf(event.message)] : []))
    .filter((text) => text !== '');
}
