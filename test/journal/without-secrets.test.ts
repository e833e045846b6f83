import { describe, expect, it } from 'vitest';
import { cleanBody } from '../../src/journal/rows/clean-body.js';
import { withoutSecrets } from '../../src/journal/without-secrets.js';

const secret = 'p/ss "wörd"+&';
const clean = withoutSecrets([secret, 'x', 'abcde']);

describe('M1: what takes secrets out of texts (§20.8)', () => {
  it.each([
    ['as it is', secret],
    ['with the escapes of JSON', JSON.stringify(secret).slice(1, -1)],
    ['as JSON within JSON', JSON.stringify(JSON.stringify(secret)).slice(3, -3)],
    ['in a URL', encodeURIComponent(secret)],
    ['in a form', String(new URLSearchParams({ '': secret })).slice(1)],
    ['as Base64', Buffer.from(secret).toString('base64')],
    ['as hexadecimal digits', Buffer.from(secret).toString('hex')],
  ])('finds one %s', (_, written) => {
    const text = clean(`before ${written} after`);
    expect(text).toMatch(/^before \[secret\]=* after$/);
  });

  it('finds the beginning of one where a text was cut off within it', () => {
    expect(clean('it is p/ss "wö…, and goes on')).toBe('it is [secret]…, and goes on');
    expect(clean('it is p/s…')).toBe('it is p/s…');
  });

  it.each([
    [
      'a delta',
      { text: 'it is hunter', delta: 'hunter' },
      { text: 'it is [secret]', delta: '[secret]' },
    ],
    [
      'a delta that goes on with a secret',
      { text: 'it is hunter2', delta: '2' },
      { text: 'it is [secret]', delta: '[secret]' },
    ],
    [
      'a delta that ends a secret',
      { text: 'it is hunter22 now', delta: '22 now' },
      { text: 'it is [secret] now', delta: '[secret]' },
    ],
    [
      'a delta after a secret',
      { text: 'it is hunter22 now', delta: ' now' },
      { text: 'it is [secret] now', delta: ' now' },
    ],
    [
      'a reply that is shown in parts',
      { content: 'it is hunter', streaming: true },
      { content: 'it is [secret]', streaming: true },
    ],
    [
      'a whole reply',
      { content: 'I am a hunter', streaming: false },
      { content: 'I am a hunter', streaming: false },
    ],
  ])('finds the beginning of one at the end of %s', (_, payload, expected) => {
    const line = JSON.stringify({ event: { payload } });
    expect(JSON.parse(withoutSecrets(['hunter22'])(line))).toEqual({
      event: { payload: expected },
    });
  });

  it('leaves the numbers and keys of a line of JSON: it stays JSON, and what it names stays', () => {
    const line = JSON.stringify({
      chat: { id: 987_654_321, '987654321': true },
      text: 'at 987654321',
    });
    expect(JSON.parse(withoutSecrets(['987654321'])(line))).toEqual({
      chat: { id: 987_654_321, '987654321': true },
      text: 'at [secret]',
    });
  });

  it('leaves where a send goes: of a body only what was said is cleaned', () => {
    const clean = withoutSecrets(['telegram-7']);
    const body = JSON.stringify({
      to: 'telegram-7',
      content: 'I am telegram-7.',
      sessionKey: 'telegram-7',
    });
    expect(JSON.parse(cleanBody('sends', body, clean))).toEqual({
      to: 'telegram-7',
      content: 'I am [secret].',
      sessionKey: 'telegram-7',
    });
    expect(cleanBody('sessions', body, clean)).toBe(body);
  });

  it('cleans what was said where it goes, and where a preview was noted', () => {
    const clean = withoutSecrets(['telegram-7']);
    const body = JSON.stringify({ ids: ['telegram-7'], message: { text: 'I am telegram-7.' } });
    expect(JSON.parse(cleanBody('sends', body, clean))).toEqual({
      ids: ['telegram-7'],
      message: { text: 'I am [secret].' },
    });
    expect(cleanBody('transcripts', '"I am telegram-7."', clean)).toBe('"I am [secret]."');
  });

  it('leaves what is shorter than six characters: a secret of one letter tears up no text', () => {
    expect(clean('x abcde fox')).toBe('x abcde fox');
  });

  it('takes the longer of two out first', () => {
    expect(withoutSecrets(['hunter22', 'hunter22-and-more'])('hunter22-and-more')).toBe('[secret]');
  });
});
