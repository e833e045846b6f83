import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkOrdering } from '../../../src/claude/index.js';
import {
  MessageWriter,
  promptText,
  type SessionEvent,
  textOf,
} from '../../../src/sdk/stream/index.js';

const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constantFrom('text' as const, 'thinking' as const), delta: fc.string() }),
    fc.record({ kind: fc.constant('call' as const), delta: fc.string() }),
    fc.record({ kind: fc.constant('end' as const), delta: fc.string() }),
  ),
);

describe('a writer of messages', () => {
  it('keeps the order of session events, whatever grows when, and loses no letter', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const writer = new MessageWriter({ provider: 'p', model: 'm' });
        const events: SessionEvent[] = [{ type: 'agent_start' }];
        for (const [at, { kind, delta }] of all.entries())
          if (kind === 'end') events.push(...writer.end());
          else if (kind === 'call')
            events.push(...writer.call({ id: `${at}`, name: delta, arguments: {} }));
          else events.push(...writer.grow(kind, delta));
        events.push(...writer.end(), { type: 'agent_end', messages: writer.messages });
        expect(checkOrdering(events)).toEqual([]);
        const texts = all.filter(({ kind }) => kind === 'text').map(({ delta }) => delta);
        expect(writer.messages.map(textOf).join('')).toBe(texts.join(''));
      }),
    );
  });

  it('makes thoughts of the texts of the open message, in order, and of no other', () => {
    const writer = new MessageWriter({ provider: 'p', model: 'm' });
    const thinking = (thought: string) => ({ type: 'thinking', thinking: thought });
    expect(writer.rethink()).toEqual([]);
    const events: SessionEvent[] = [
      ...[{ type: 'agent_start' } as const],
      ...[...writer.grow('text', 'Said.'), ...writer.end()],
      ...[
        ...writer.grow('thinking', 'Hm. '),
        ...writer.grow('text', 'She '),
        ...writer.grow('text', 'asks.'),
      ],
      ...[...writer.rethink(), ...writer.rethink(), ...writer.grow('text', 'Hi.'), ...writer.end()],
      { type: 'agent_end', messages: writer.messages },
    ];
    expect(checkOrdering(events)).toEqual([]);
    expect(writer.messages.map(({ content }) => content)).toEqual([
      [{ type: 'text', text: 'Said.' }],
      [thinking('Hm. '), thinking('She asks.'), { type: 'text', text: 'Hi.' }],
    ]);
  });

  it('puts a text in the place of those of the open message, between its thoughts', () => {
    const writer = new MessageWriter({ provider: 'p', model: 'm' });
    expect(writer.correct('Nothing grows.')).toEqual([]);
    const events: SessionEvent[] = [
      { type: 'agent_start' },
      ...[...writer.grow('thinking', 'Hm.'), ...writer.endBlock(), ...writer.endBlock()],
      ...[...writer.grow('thinking', 'Ah.'), ...writer.grow('text', 'Fo')],
      ...[...writer.endBlock(), ...writer.grow('text', 'o'), ...writer.correct('Bar')],
      ...[...writer.end(), { type: 'agent_end', messages: writer.messages } as const],
    ];
    expect(checkOrdering(events)).toEqual([]);
    const thoughts = ['Hm.', 'Ah.'].map((thinking) => ({ type: 'thinking', thinking }));
    expect(writer.messages[0]?.content).toEqual([...thoughts, { type: 'text', text: 'Bar' }]);
  });

  it('begins no message for an end, and ends a message with its reason', () => {
    const writer = new MessageWriter({ provider: 'p', model: 'm' }, () => 7);
    expect(writer.end()).toEqual([]);
    writer.grow('text', 'I look.');
    writer.call({ id: '1', name: 'look', arguments: {} });
    writer.end();
    writer.grow('text', 'I');
    writer.end({ stopReason: 'error', errorMessage: 'away' });
    writer.grow('text', 'Green.');
    writer.end();
    expect(writer.messages.map(({ stopReason }) => stopReason)).toEqual([
      'toolUse',
      'error',
      'stop',
    ]);
    expect(writer.messages[1]).toEqual({
      role: 'assistant',
      ...{ provider: 'p', model: 'm', timestamp: 7 },
      content: [{ type: 'text', text: 'I' }],
      ...{ stopReason: 'error', errorMessage: 'away' },
    });
  });
});

describe('a prompt as one text', () => {
  it('tells what was not heard and what was done before, and names the files', () => {
    const text = promptText(
      {
        prompt: 'And now?',
        attachments: [{ kind: 'file', path: '/tmp/a.txt' }],
        begun: [{ role: 'assistant', content: [{ type: 'text', text: 'half' }] }],
      },
      [{ role: 'user', content: 'Hello' }],
    );
    expect(text).toMatch(
      /<conversation_so_far>\nuser: Hello\n.*<already_done>.*half\n.*Attached files:\n- file \/tmp\/a\.txt\n\nAnd now\?$/s,
    );
  });
});
