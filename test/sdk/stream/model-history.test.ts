import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  modelMessages,
  type SessionMessage,
  type TranscriptEntry,
  textOf,
} from '../../../src/sdk/stream/index.js';
import { modelHistory } from '../../../src/sdk/stream/internal.js';

const words = fc.constantFrom('', ' ', '\n', 'yes', 'half a', 'NO_REPLY');
const id = fc.constantFrom('1', '2', '3');
const prompt = words.map((content): SessionMessage => ({ role: 'user', content }));
const result = fc.tuple(id, words).map(
  ([toolCallId, text]): SessionMessage => ({
    ...{ role: 'toolResult', toolCallId, toolName: 'look', isError: false },
    content: [{ type: 'text', text }],
  }),
);
const block = fc.oneof(
  words.map((text) => ({ type: 'text' as const, text })),
  words.map((thinking) => ({ type: 'thinking' as const, thinking })),
);
const answer = fc
  .record({
    said: fc.array(block, { maxLength: 3 }),
    called: fc.array(id, { maxLength: 2 }),
    stopReason: fc.constantFrom('stop' as const, 'error' as const, 'aborted' as const),
    hasFailed: fc.boolean(),
  })
  .map(
    ({ said, called, stopReason, hasFailed }): SessionMessage => ({
      ...{ role: 'assistant', stopReason },
      content: [
        ...said,
        ...called.map((one) => ({
          ...{ type: 'toolCall' as const, id: one },
          name: 'look',
          arguments: {},
        })),
      ],
      ...(hasFailed && said.length > 0 && { providerError: { code: 'overloaded' } }),
    }),
  );
/** Whatever a transcript may hold after turns that failed, were stopped, stayed silent, were cut off or were killed. */
const transcript = fc.array(fc.oneof(prompt, answer, result), { maxLength: 14 });
const shortTranscript = fc.array(fc.oneof(prompt, answer, result), { maxLength: 2 });

/** With entries that no history had before. */
const historyOf = (messages: readonly SessionMessage[]) =>
  modelHistory(messages.map((message) => ({ ...message })));

const isUser = ({ role }: SessionMessage): boolean => role === 'user';

const first: SessionMessage = { role: 'user', content: 'one' };
const good: readonly SessionMessage[] = [
  first,
  { role: 'assistant', content: [{ type: 'toolCall', id: '1', name: 'look', arguments: {} }] },
  { ...{ role: 'toolResult', toolCallId: '1', toolName: 'look' }, content: [], isError: false },
  { role: 'assistant', content: [{ type: 'text', text: 'two' }] },
];

const callsOf = (message: SessionMessage | undefined): string[] =>
  message?.role === 'assistant'
    ? message.content.flatMap((one) => (one.type === 'toolCall' ? [one.id] : []))
    : [];

describe('the messages that a model gets (event-pipeline §16.29)', () => {
  it('alternate, are not empty, and have one result for each call, whatever the transcript holds', () => {
    fc.assert(
      fc.property(transcript, (messages) => {
        const made = modelMessages(messages);
        let open: string[] = [];
        let last = '';
        for (const message of made) {
          if (message.role === 'toolResult') {
            expect(open.shift()).toBe(message.toolCallId);
            last = 'toolResult';
            continue;
          }
          expect(open).toEqual([]);
          expect(message.role).not.toBe(last);
          if (message.role === 'user' && last !== '') expect(last).toBe('assistant');
          open = callsOf(message);
          expect(textOf(message).trim() !== '' || open.length > 0).toBe(true);
          last = message.role;
        }
        expect(open).toEqual([]);
        expect(modelMessages(made)).toEqual(made);
        expect(historyOf(messages).at(-1)?.role ?? 'assistant').toBe('assistant');
      }),
    );
  });

  it('keep each prompt and each word that was said, in order', () => {
    fc.assert(
      fc.property(transcript, (messages) => {
        const said = (all: readonly SessionMessage[], role: string) =>
          all
            .filter((one) => one.role === role && !(one.role === 'assistant' && one.providerError))
            .map((one) => textOf(one).trim())
            .filter((text) => text !== '' && !text.startsWith('('));
        const made = modelMessages(messages);
        expect(said(made, 'user')).toEqual(said(messages, 'user'));
        expect(said(made, 'assistant').join('').replace(/\s/g, '')).toBe(
          said(messages, 'assistant').join('').replace(/\s/g, ''),
        );
      }),
    );
  });

  it('have a call that was cut off and made again once, unless it was another call or another turn', () => {
    const calls = (id: string, what: string): SessionMessage => ({
      role: 'assistant',
      content: [{ type: 'toolCall', id, name: 'look', arguments: { what } }],
    });
    const answerOf = (toolCallId: string): SessionMessage => ({
      ...{ role: 'toolResult', toolCallId, toolName: 'look', isError: false },
      content: [{ type: 'text', text: 'seen' }],
    });
    const ids = (...messages: readonly SessionMessage[]) =>
      modelMessages(messages).flatMap(callsOf);
    const next: SessionMessage = { role: 'user', content: 'again' };
    expect(ids(calls('1', 'a'), calls('2', 'a'), answerOf('2'))).toEqual(['2']);
    expect(ids(calls('1', 'a'), calls('2', 'a'), calls('3', 'a'))).toEqual(['3']);
    expect(ids(calls('1', 'a'), answerOf('1'), calls('2', 'a'))).toEqual(['1', '2']);
    expect(ids(calls('1', 'a'), calls('2', 'b'), answerOf('2'))).toEqual(['1', '2']);
    expect(ids(calls('1', 'a'), next, calls('2', 'a'), answerOf('2'))).toEqual(['1', '2']);
  });

  it('leave each turn in which all went well as it is, whatever the turns beside it hold', () => {
    expect(modelMessages([])).toEqual([]);
    fc.assert(
      fc.property(transcript, transcript, (before, after) => {
        const made = modelMessages([...before, ...good, ...after.slice(after.findIndex(isUser))]);
        const at = made.indexOf(first);
        expect(made.slice(at, at + 3).every((message, index) => message === good[index])).toBe(
          true,
        );
        expect(modelMessages([...good, ...good])).toEqual([...good, ...good]);
      }),
    );
  });

  it('are those of a history that is read for the first time, however the session goes on, is forked or is edited', () => {
    const mostly = { weight: 4, arbitrary: fc.constant(good) };
    const turn = fc.record({
      messages: fc.oneof(mostly, shortTranscript),
      left: fc.nat(9),
      edited: fc.nat(40),
      forkedAt: fc.nat(20),
    });
    const read = (entries: readonly TranscriptEntry[]) => {
      const anew = structuredClone(entries);
      expect(modelHistory(entries)).toEqual(modelHistory(anew));
      expect(modelHistory(entries).push({ role: 'user', content: 'more' })).toBeGreaterThan(0);
    };
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 8 }), (turns) => {
        let entries: TranscriptEntry[] = [];
        for (const { messages, left, edited, forkedAt } of turns) {
          entries = [
            ...entries,
            ...[...messages].map((message) => ({ ...message, surroundings: 'S' })),
          ];
          if (left < 5) entries = entries.slice(left);
          entries = entries.map((entry, at) =>
            at === edited ? { role: 'user', content: '[redacted]' } : entry,
          );
          read(entries);
          read([...entries.slice(0, forkedAt), ...good.map((message) => ({ ...message }))]);
        }
      }),
    );
  });

  it('are looked at once, however many turns they stay in the history of their session', () => {
    let looked = 0;
    const watched = (entry: TranscriptEntry) =>
      new Proxy(entry, {
        get(of, field) {
          if (field === 'content') looked++;
          return Reflect.get(of, field);
        },
      });
    let entries: TranscriptEntry[] = [];
    const counts = Array.from({ length: 40 }, () => {
      looked = 0;
      entries = [...entries, ...good.map((one) => watched({ ...one }))].slice(-60);
      const made = modelHistory(entries);
      const count = looked;
      expect(made).toEqual(entries);
      return count;
    });
    expect(new Set(counts.slice(20)).size).toBe(1);
    expect(counts.at(-1)).toBeLessThan(30);
  });
});
