import { describe, expect, inject, it } from 'vitest';
import { feishuStandIn } from './feishu-server.js';
import { laterLab } from './later/later-lab.js';

const openclaw = inject('openClawWithChannels');

describe.skipIf(openclaw === undefined)('the unmodified feishu of OpenClaw 2026.9', () => {
  it('takes a signed event in through its debouncer, and answers by a request (event-pipeline §17.35)', async () => {
    await using cloud = await feishuStandIn();
    await using lab = await laterLab('@openclaw/feishu@2026.9.5', {
      channels: { feishu: cloud.account },
    });
    const host = await lab.begin();
    await host.heard('log', ({ line }) => line.includes('Webhook server listening'));
    expect(await cloud.bring('hello feishu', 'e2')).toBe(200);
    expect(await host.heard('end')).toMatchObject({ status: 'answered' });
    expect(JSON.stringify(cloud.said)).toContain('hello feishu');
  });
});
