import { describe, expect, inject, it } from 'vitest';
import { channelLab } from './channel-lab.js';
import { feishuStandIn } from './feishu-server.js';

const openclaw = inject('openClawWithChannels');

describe.skipIf(openclaw === undefined)('the unmodified feishu of OpenClaw', () => {
  it('takes a signed event in by its own server, and answers by a request with its token (event-pipeline §17.19)', async () => {
    await using cloud = await feishuStandIn();
    const { bring, said } = cloud;
    await using lab = await channelLab({
      ...{ openclaw: openclaw ?? '', plugin: 'feishu' },
      config: { channels: { feishu: cloud.account } },
    });
    await lab.logs(/Webhook server listening/);
    expect(await bring('nobody', 'e1', 'another key')).toBe(401);
    expect(await bring('hello feishu', 'e2')).toBe(200);
    const end = await lab.ended(({ channel }) => channel === 'feishu');
    const content = '[message_id: om_e2]\nou_ada: hello feishu'; // so the plugin writes it for its agent
    expect(end).toMatchObject({ status: 'answered', sends: [{ content }] });
    const shown = { zh_cn: { content: [[{ tag: 'md', text: content }]] } };
    const post = { content: JSON.stringify(shown), msg_type: 'post', receive_id: 'oc_dm' };
    expect(said).toEqual([['messages', post]]);
    expect(lab.ends).toHaveLength(1);
  });
});
