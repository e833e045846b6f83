import { describe, expect, inject, it } from 'vitest';
import { laterLab } from './later/later-lab.js';
import { cloudStandIn } from './nextcloud-server.js';

const openclaw = inject('openClawWithChannels');

describe.skipIf(openclaw === undefined)('the unmodified nextcloud-talk of OpenClaw 2026.9', () => {
  it('answers a message once whose host was killed in the middle of the turn, and sends by itself (event-pipeline §17.35)', async () => {
    await using cloud = await cloudStandIn();
    await using lab = await laterLab('openclaw-nextcloud-talk', {
      channels: { 'nextcloud-talk': cloud.account },
    });
    const first = await lab.begin('hangs');
    await first.heard('log', ({ line }) => line.includes('webhook listening'));
    expect(await cloud.bring('nobody', 1, 'another secret')).toBe(401);
    expect(await cloud.bring('are you there?', 2)).toBe(200);
    await first.heard('begun');
    await first.kill();
    const second = await lab.begin();
    expect(await second.heard('end')).toMatchObject({ status: 'answered' });
    await second.heard('log', ({ line }) => line.includes('webhook listening'));
    expect(await cloud.bring('are you there?', 2)).toBe(200);
    expect(await cloud.bring('and now?', 3)).toBe(200);
    await second.heard('end', ({ texts }) => texts[0] === 'and now?');
    expect(cloud.said).toEqual(['are you there?', 'and now?']);
    const place = { channel: 'nextcloud-talk', accountId: 'default', to: 'den' };
    second.ask({ ...place, content: 'by myself' });
    expect(await second.heard('sent')).toMatchObject({ status: 'sent' });
    expect(cloud.said).toHaveLength(3);
  });
});
