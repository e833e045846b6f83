import { describe, expect, it } from 'vitest';
import { lostUpdate } from '../../../src/openclaw/host/lost-update.js';

const because = { member: 'api.runtime.channel.text.chunkText', error: 'none' };
const keptOf = (raw: unknown): unknown => lostUpdate(raw, because).raw;

describe('a text that a plugin has lost is kept (event-pipeline §17.36)', () => {
  it.each<[string, unknown, string]>([
    ['of a form', 'text=hello&token=s3cret&x=1', 'text=hello&token=…&x=1'],
    ['of JSON', { apiKey: 's3cret two', text: 'hello' }, '{"apiKey":"…","text":"hello"}'],
    [
      'of JSON in JSON',
      { body: '{"verifyToken":"s3cret, two","text":"hello"}' },
      String.raw`{"body":"{\"verifyToken\":\"…\",\"text\":\"hello\"}"}`,
    ],
    ['of a head', 'authorization: Bearer s3cret\nhello', 'authorization: …\nhello'],
  ])('without the secrets %s', (_, raw, cameAs) => {
    expect(keptOf(raw)).toMatchObject({ cameAs });
  });

  it('without the secrets of the error', () => {
    const error = new Error('GET /updates?access_token=s3cret failed');
    const { raw } = lostUpdate('hello', { ...because, error });
    expect(JSON.stringify(raw)).toContain('access_token=… failed');
  });
});
