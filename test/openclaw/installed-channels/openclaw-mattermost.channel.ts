import { describe, expect, inject, it } from 'vitest';
import { laterLab } from './later/later-lab.js';
import { direct, mattermostStandIn } from './mattermost-server.js';

const openclaw = inject('openClawWithChannels');

describe.skipIf(openclaw === undefined)('the unmodified mattermost of OpenClaw 2026.9', () => {
  it('takes a direct post in through its debouncer, and answers by a request (event-pipeline §17.35)', async () => {
    await using server = await mattermostStandIn();
    await using lab = await laterLab('@openclaw/mattermost@2026.9.5', {
      channels: { mattermost: server.account },
    });
    const host = await lab.begin();
    server.post(await server.connected, { id: 'p1', channel: direct, type: 'D', message: 'hello' });
    const end = await host.heard('end');
    expect(end).toMatchObject({ status: 'answered' });
    expect(server.posted).toEqual([[direct, 'hello']]);
  });
});
