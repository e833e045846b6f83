import type { MessageUpdate, SessionEvent } from '../../../src/sdk/stream/index.js';

const tagNames = ['think', 'thinking', 'thought', 'antthinking', 'final'];

/** What ours holds back: beginnings of tags, or lines that may name media. */
export type Held = 'tags' | 'media';

/** How much of the unread text ours does not read yet. */
function heldLength(read: string, text: string, what: Held): number {
  const line = (read + text).slice((read + text).lastIndexOf('\n') + 1);
  const begun = line.trimStart();
  const mayNameMedia = 'MEDIA:'.startsWith(begun) || begun.startsWith('MEDIA:');
  if (what === 'media') return line.length <= text.length && mayNameMedia ? line.length : 0;
  const tag = /<\s*\/?\s*([a-z]*)(\s*)$/i.exec(text);
  if (tag === null) return 0;
  const name = (tag[1] ?? '').toLowerCase();
  const fits = tagNames.some((one) =>
    name !== '' && tag[2] !== '' ? one === name : one.startsWith(name),
  );
  return fits ? tag[0].length : 0;
}

/** The same events, with the texts cut where ours reads them: what it holds back comes with what follows, if anything does. */
export function recut(events: readonly SessionEvent[], what: Held): SessionEvent[] {
  const out: SessionEvent[] = [];
  let read = '';
  let held = '';
  let last: MessageUpdate | undefined;
  const release = (): void => {
    if (held !== '' && last !== undefined) out.push(withDelta(last, held));
    read += held;
    held = '';
  };
  for (const event of events) {
    if (event.type !== 'message_update' || event.assistantMessageEvent.type !== 'text_delta') {
      release();
      if (event.type === 'message_start' || event.type === 'message_end') read = '';
      out.push(event);
      continue;
    }
    const text = held + event.assistantMessageEvent.delta;
    const shown = text.slice(0, text.length - heldLength(read, text, what));
    held = text.slice(shown.length);
    read += shown;
    last = event;
    if (shown !== '') out.push(withDelta(event, shown));
  }
  return out;
}

function withDelta(event: MessageUpdate, delta: string): MessageUpdate {
  const { contentIndex, partial } = event.assistantMessageEvent;
  return {
    ...event,
    assistantMessageEvent: { type: 'text_delta', contentIndex, delta, partial },
  };
}
