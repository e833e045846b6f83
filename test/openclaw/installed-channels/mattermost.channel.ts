import { describe, expect, inject, it } from 'vitest';
import { channelLab } from './channel-lab.js';
import { mattermostStandIn, town } from './mattermost-server.js';

const openclaw = inject('openClawWithChannels');

describe.skipIf(openclaw === undefined)('the unmodified mattermost of OpenClaw', () => {
  it('takes direct posts and mentions in from its socket, answers each by a request, and drops what is not for it (event-pipeline §17.19)', async () => {
    await using server = await mattermostStandIn();
    await using lab = await channelLab({
      ...{ openclaw: openclaw ?? '', plugin: 'mattermost' },
      config: {
        channels: {
          mattermost: {
            ...{ baseUrl: server.url, botToken: 'a-dummy-token', chatmode: 'oncall' },
            ...{ dmPolicy: 'open', allowFrom: ['*'], groupPolicy: 'open', groupAllowFrom: ['*'] },
            commands: { native: false },
          },
        },
      },
    });
    const socket = await server.connected;
    server.post(socket, { id: 'p1', channel: 'dm', type: 'D', message: 'hello there' });
    await lab.ended(({ sends }) => sends[0]?.content === 'hello there');
    const said = { channel: town, type: 'O' };
    server.post(socket, { ...said, id: 'p2', message: 'nobody is meant' });
    server.post(socket, { ...said, id: 'p3', message: '@slb are you ready?' });
    const end = await lab.ended(({ sends }) => sends[0]?.content.includes('ready') === true);
    expect(server.posted).toEqual([
      ['dm', 'hello there'],
      [town, end.sends[0]?.content],
    ]);
    expect(lab.ends).toHaveLength(2);
  });
});
