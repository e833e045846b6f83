import { defineExtension } from 'sluice';
import { describe, expect, it } from 'vitest';
import { fakeChannel, startTestHost } from '../../../src/testing/index.js';

describe('the start of a host (event-pipeline §14.7)', () => {
  const guard = (preview?: 'ok') =>
    defineExtension({
      id: 'guard',
      setup: (api) =>
        api.mutate('egress.preparing', 'sign', { ...(preview && { preview }) }, () => undefined),
    });
  const said = async (canStreamResponse: boolean, preview?: 'ok') => {
    const fake = fakeChannel();
    const channel = { ...fake, capabilities: { ...fake.capabilities, canStreamResponse } };
    await using test = await startTestHost({
      channels: [{ ...channel, id: 'other' }],
      extensions: [guard(preview)],
    });
    return test.log.messages('warn');
  };

  it('names the handlers because of which no answer is shown while it grows, if a channel can show one', async () => {
    expect(await said(true)).toEqual([
      "no answer is shown while it grows: guard/sign lacks preview: 'ok'",
    ]);
    expect(await said(true, 'ok')).toEqual([]);
    expect(await said(false)).toEqual([]);
  });
});
