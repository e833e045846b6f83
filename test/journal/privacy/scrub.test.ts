import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bounded } from '../../../src/journal/privacy/bounded.js';
import { both, scrubber } from '../../../src/journal/privacy/scrub.js';

const all = scrubber({ patterns: { email: true, card: true, iban: true, phone: true } });
const evil = '(a+)+$';

describe('what is scrubbed (durability §13.1)', () => {
  it.each([
    ['ask ada.l+x@mail.example.co.uk, please', 'ask [email], please'],
    ['ask ж@почта.рф now', 'ask [email] now'],
    ['card 4111 1111 1111 1111.', 'card [card].'],
    ['1 4111-1111-1111-1111 2', '1 [card] 2'],
    ['378282246310005', '[card]'],
    ['4111 1111 1111 1112 is no card', '4111 1111 1111 1112 is no card'],
    ['to DE89 3704 0044 0532 0130 00', 'to [iban]'],
    ['call +49 (30) 1234-5678 today', 'call [phone] today'],
    ['at 12:30 we are 5 + 6', 'at 12:30 we are 5 + 6'],
  ])('%s', (text, cleaned) => {
    expect(all(text)).toBe(cleaned);
  });

  it.each([
    ['a key of an object', { 'a@b.example': 1 }, { '[email]': 1 }],
    [
      'two keys that become the same',
      { 'a@b.example': 1, 'c@b.example': 2 },
      { '[email]': 1, '[email]+': 2 },
    ],
    ['a number', { card: 4111111111111111 }, { card: '[card]' }],
    [
      'an id that is an address',
      { conversationRef: { id: 'a@b.example' } },
      { conversationRef: { id: '[email]' } },
    ],
    ['JSON within JSON', { result: '{"to":"a@b.example"}' }, { result: '{"to":"[email]"}' }],
    [
      'a text that grows',
      { streaming: true, content: 'a@b.exa' },
      { streaming: true, content: '[left out]' },
    ],
    ['a delta', { text: 'a@b.exa', delta: 'exa' }, { text: '[left out]', delta: '[left out]' }],
    [
      'a thought, with the proof of its words',
      { thinking: 'a@b.example', thinkingSignature: 'c2ln' },
      { thinking: '[email]' },
    ],
    [
      'the end of a text that was cut off',
      [`${'x '.repeat(140)}a@b.exam…`],
      [`${'x '.repeat(112)}…`],
    ],
  ])('in JSON: %s', (_, value, cleaned) => {
    expect(JSON.parse(all(JSON.stringify(value)))).toEqual(cleaned);
  });

  it.each([
    ['ids and times stay as they are', { eventId: '4111111111111111', atMs: 4111111111111111 }],
    [
      'a thought that holds nothing keeps its proof',
      { thinking: 'well', thinkingSignature: 'c2ln' },
    ],
  ])('in JSON: %s', (_, value) => {
    expect(all(JSON.stringify(value))).toBe(JSON.stringify(value));
  });

  it('finds what it looks for wherever it stands in plain data, and keeps the form of all else', () => {
    const mail = 'canary@leak.example';
    const words = fc.string().map((text) => `${text} ${mail} ${text}`);
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), fc.array(words), (value, texts) => {
        const cleaned = all(JSON.stringify([value, texts, { texts }]));
        expect(cleaned).not.toContain(mail);
        expect(JSON.parse(cleaned)[1]).toHaveLength(texts.length);
        expect(all(JSON.stringify({ plain: 'x', at: 1 }))).toBe('{"plain":"x","at":1}');
      }),
    );
  });

  it('takes own regular expressions and a function, in this order, after the secrets', () => {
    const ticket = 'T-\\d{3,6}';
    const fn = (text: string) => text.replace('[ticket]', '[a ticket]').replace('Ada', '[name]');
    const scrub = scrubber({ patterns: { ticket }, fn });
    expect(both((text) => text.replace('T-', 'U-'), scrub)('{"a":"T-1234 of Ada"}')).toBe(
      '{"a":"U-1234 of [name]"}',
    );
    expect(scrub('T-123456 of Ada\n')).toBe('[a ticket] of [name]\n');
    expect(() => scrubber({ patterns: { x: '(' } })).toThrow(/pattern "x" is no/);
    expect(() => scrubber({ patterns: { mail: true } })).toThrow(/pattern "mail" is no/);
  });
});

describe('what cannot be scrubbed (durability §13.4)', () => {
  it('is left out if a pattern runs away, and the texts beside it are not', () => {
    const problems: string[] = [];
    const scrub = scrubber({
      patterns: { evil, email: true },
      onLeftOut: (problem) => problems.push(problem),
    });
    const texts = ['a@b.example', `${'a'.repeat(60)}!`, 'well'];
    expect(JSON.parse(scrub(JSON.stringify(texts)))).toEqual(['[email]', '[left out]', 'well']);
    expect(problems).toEqual(['it takes longer than 100 ms']);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('a@b.example');
      },
      /^it throws/,
    ],
    [
      'throws no error',
      () => {
        throw Object(1);
      },
      /^it throws/,
    ],
    ['gives no text', () => undefined, /^it throws/],
    ['gives a promise', async () => 'x', /^it throws/],
    [
      'never returns',
      () => {
        for (;;);
      },
      /longer than 100 ms/,
    ],
    [
      'holds on to the time it has',
      () => {
        for (;;)
          try {
            for (;;);
          } finally {
          }
      },
      /longer than/,
    ],
  ])('is left out if a function %s', (_, clean, problem) => {
    const problems: string[] = [];
    const scrub = scrubber({
      fn: (text) => Reflect.apply(clean, undefined, [text]), // JavaScript is not checked
      onLeftOut: (told) => problems.push(told),
    });
    expect(scrub('{"content":"a@b.example"}')).toBe('{"content":"[left out]"}');
    expect(problems).toEqual([expect.stringMatching(problem)]);
    expect(problems[0]).not.toContain('a@b');
  });

  it('costs no more than a second of a minute, and then each text is left out at once', () => {
    let nowMs = 0;
    let calls = 0;
    const clean = (text: string): string => {
      calls++;
      nowMs += 300;
      if (text === 'bad') throw new Error('no');
      return text;
    };
    const run = bounded(
      clean,
      () => undefined,
      () => nowMs,
    );
    const left = ['[left out]', '[left out]', '[left out]', '[left out]', '[left out]'];
    expect(run(['bad', 'bad', 'bad', 'bad', 'good'])).toEqual(left);
    expect(calls).toBe(4);
    expect(run(['good'])).toEqual(['[left out]']);
    nowMs += 60_000;
    expect(run(['good'])).toEqual(['good']);
  });

  it('is left out as a whole if it is nested too deep to be read', () => {
    const deep = `${'['.repeat(50_000)}"a@b.example"${']'.repeat(50_000)}`;
    expect(all(deep)).toBe('{"content":"[left out]"}');
  });
});
