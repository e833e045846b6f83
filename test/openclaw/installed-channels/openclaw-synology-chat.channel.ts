import { describe, expect, inject, it } from 'vitest';
import { laterLab } from './later/later-lab.js';
import { nasStandIn } from './synology-server.js';

const openclaw = inject('openClawWithChannels');

describe.skipIf(openclaw === undefined)('the unmodified synology-chat of OpenClaw 2026.9', () => {
  it('keeps a webhook before it acknowledges it, and answers one that comes twice once (event-pipeline §17.35)', async () => {
    await using nas = await nasStandIn();
    await using lab = await laterLab('openclaw-synology-chat', {
      channels: {
        'synology-chat': nas.account,
      },
    });
    const host = await lab.begin();
    const { url } = await host.heard('runs');
    expect(await nas.bring(url, 'nobody', '1', 'another')).toBe(401);
    expect(await nas.bring(url, 'hello nas', '2')).toBe(204);
    expect(await host.heard('end')).toMatchObject({ status: 'answered', texts: ['hello nas'] });
    expect(await nas.bring(url, 'hello nas', '2')).toBe(204);
    expect(await nas.bring(url, 'and now?', '3')).toBe(204);
    await host.heard('end', ({ texts }) => texts[0] === 'and now?');
    expect(nas.posted).toEqual([
      { text: 'hello nas', user_ids: [1] },
      { text: 'and now?', user_ids: [1] },
    ]);
    host.ask('stop');
    expect((await host.heard('stopped')).unsupported).toEqual([]);
  });
});
