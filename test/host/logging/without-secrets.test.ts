import { describe, expect, it } from 'vitest';
import { cleanBody } from '../../../src/host/journal/clean-body.js';
import { withoutSecrets } from '../../../src/host/logging/without-secrets.js';

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

  it('leaves what is shorter than six characters: a secret of one letter tears up no text', () => {
    expect(clean('x abcde fox')).toBe('x abcde fox');
  });

  it('takes the longer of two out first', () => {
    expect(withoutSecrets(['hunter22', 'hunter22-and-more'])('hunter22-and-more')).toBe('[secret]');
  });
});
