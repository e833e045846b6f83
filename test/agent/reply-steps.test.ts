import { describe, expect, it } from 'vitest';
import { createReplyCallbacks, type ReplyCallbackOptions } from '../../src/agent/index.js';
import type { AssistantMessageEvent, SessionEvent } from '../../src/sdk/stream/index.js';
import { stepsOf } from '../support/string-steps.js';
import { message } from './reply-lab.js';

const few = 16 * 1024;
const many = 4 * few;

const prose =
  'Lima is a city of `ten` million people.\n- It is old.\n\n```ts\nif (a < 2) return;\n```\n\n';

/** What a model may write for long, and what of it would be read again and again by who reads a text as a whole. */
const texts: Readonly<Record<string, string>> = {
  'prose with code': prose,
  'one line': 'Lima is a city and ',
  'nothing but space': ' ',
  'empty lines': '\n',
  'signs that open tags': '< ',
  thoughts: '<think>Hm.</think>Yes. ',
  'tags in tags': '<fin</think>al>x ',
  'brackets that nothing closes': '[[',
  directives: '[[reply_to_current]] Yes. ',
  'lines of media': '\nMEDIA: https://example.org/a.png\nYes.',
  'one line of media': 'MEDIA: ',
};

const chunking = { minChars: 800, maxChars: 1200 };
const hosts: readonly (readonly [name: string, options: Partial<ReplyCallbackOptions>])[] = [
  ['whole', {}],
  ['in chunks', { blockReplyChunking: chunking }],
  ['by paragraph', { blockReplyChunking: { ...chunking, flushOnParagraph: true } }],
  ['with its thoughts', { reasoningMode: 'stream', onReasoningStream: () => undefined }],
];

/** What the pieces of a text cost, four characters each. */
function stepsFor(word: string, length: number, options: Partial<ReplyCallbackOptions>): number {
  const none = (): void => undefined;
  const host = { onPartialReply: none, onBlockReply: none, onAgentEvent: none };
  const { handle } = createReplyCallbacks({ runId: 'run', ...host, ...options });
  const partial = message('');
  const update = (event: Pick<AssistantMessageEvent, 'type'>): SessionEvent => {
    const assistantMessageEvent = { contentIndex: 0, partial, ...event } as AssistantMessageEvent; // built just below
    return { type: 'message_update', message: partial, assistantMessageEvent };
  };
  const text = word.repeat(Math.ceil(length / word.length)).slice(0, length);
  const pieces: SessionEvent[] = [];
  for (let at = 0; at < length; at += 4)
    pieces.push(update({ type: 'text_delta', delta: text.slice(at, at + 4) } as never));
  void handle({ type: 'agent_start' });
  void handle({ type: 'message_start', message: partial });
  return stepsOf(() => {
    for (const piece of pieces) void handle(piece);
  });
}

describe.each(hosts)('A reply that is handed over %s', (_name, options) => {
  it.each(Object.entries(texts))(
    'costs what it is long, and not more for a piece the more came before it: %s',
    (_name, word) => {
      const steps = stepsFor(word, few, options);
      expect(steps).toBeGreaterThan(few / 4);
      expect(stepsFor(word, many, options) / steps).toBeLessThan(5);
    },
  );
});
