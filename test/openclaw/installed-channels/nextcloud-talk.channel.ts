import { createHmac } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { channelLab } from './channel-lab.js';
import { jsonServer } from './json-server.js';
import { freePort } from './ngircd.js';

const openclaw = inject('openClawWithChannels');
const secret = 'a dummy secret of a test';

describe.skipIf(openclaw === undefined)('the unmodified nextcloud-talk of OpenClaw', () => {
  it('takes a signed webhook in, answers by its own signed request, and drops one that is signed wrongly (event-pipeline §17.19)', async () => {
    await using cloud = await cloudStandIn();
    const webhookPort = await freePort();
    const channel = {
      ...{ baseUrl: cloud.url, botSecret: secret, webhookPort, webhookHost: '127.0.0.1' },
      ...{ dmPolicy: 'open', allowFrom: ['*'], groupPolicy: 'open', groupAllowFrom: ['*'] },
      rooms: { den: { requireMention: false } },
    };
    await using lab = await channelLab({
      ...{ openclaw: openclaw ?? '', plugin: 'nextcloud-talk' },
      config: { channels: { 'nextcloud-talk': channel } },
    });
    await lab.logs(/webhook listening/);
    const bring = async (content: string, id: number, key = secret): Promise<number> => {
      const body = JSON.stringify({
        ...{ type: 'Create', actor: { type: 'Person', id: 'users/ada', name: 'Ada' } },
        object: { type: 'Note', id, name: 'message', content, mediaType: 'text/plain' },
        target: { type: 'Collection', id: 'den', name: 'Den' },
      });
      const random = 'f'.repeat(64);
      const answer = await fetch(`http://127.0.0.1:${webhookPort}/nextcloud-talk-webhook`, {
        ...{ method: 'POST', body },
        headers: {
          'x-nextcloud-talk-signature': createHmac('sha256', key)
            .update(random + body)
            .digest('hex'),
          ...{ 'x-nextcloud-talk-random': random, 'x-nextcloud-talk-backend': cloud.url },
        },
      });
      await answer.text();
      return answer.status;
    };
    expect(await bring('nobody', 1, 'another secret')).toBe(401);
    expect(await bring('hello cloud', 2)).toBe(200);
    expect(await lab.ended(({ channel: of }) => of === 'nextcloud-talk')).toMatchObject({
      ...{ status: 'answered', sends: [{ content: 'hello cloud' }] },
    });
    expect(cloud.said).toEqual([['/ocs/v2.php/apps/spreed/api/v1/bot/den/message', 'hello cloud']]);
    expect(lab.ends).toHaveLength(1);
    const place = { channel: 'nextcloud-talk', accountId: 'default', to: 'den' };
    const report = await lab.host.send({ ...place, content: 'by myself' });
    expect(report).toMatchObject({ status: 'sent', receipt: { messageId: '7' } });
    expect(cloud.said).toHaveLength(2);
  });
});

/** A stand-in for the server: it takes the bot's messages if they are signed rightly. */
async function cloudStandIn() {
  const said: (readonly [path: string, message: string])[] = [];
  const server = await jsonServer(({ path, headers, body }) => {
    const { message = '' } = JSON.parse(body || '{}') as { message?: string };
    const { 'x-nextcloud-talk-bot-random': random, 'x-nextcloud-talk-bot-signature': signature } =
      headers;
    const wanted = createHmac('sha256', secret)
      .update(`${String(random)}${message}`)
      .digest('hex');
    if (signature === wanted) said.push([path, message]);
    return [signature === wanted ? 201 : 401, { ocs: { data: { id: 7 } } }];
  });
  return { ...server, said };
}
