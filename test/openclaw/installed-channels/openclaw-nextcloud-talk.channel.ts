import { createHmac } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { jsonServer } from './json-server.js';
import { laterLab } from './later/later-lab.js';
import { freePort } from './ngircd.js';

const openclaw = inject('openClawWithChannels');
const secret = 'a dummy secret of a test';

describe.skipIf(openclaw === undefined)('the unmodified nextcloud-talk of OpenClaw 2026.9', () => {
  it('answers a message once whose host was killed in the middle of the turn, and sends by itself (event-pipeline §17.35)', async () => {
    await using cloud = await cloudStandIn();
    const webhookPort = await freePort();
    const channel = {
      ...{ baseUrl: cloud.url, botSecret: secret, webhookPort, webhookHost: '127.0.0.1' },
      ...{ dmPolicy: 'open', allowFrom: ['*'], groupPolicy: 'open', groupAllowFrom: ['*'] },
      ...{
        rooms: { den: { requireMention: false } },
        network: { dangerouslyAllowPrivateNetwork: true },
      },
    };
    await using lab = await laterLab('openclaw-nextcloud-talk', {
      channels: { 'nextcloud-talk': channel },
    });
    const bring = async (content: string, id: number, key = secret): Promise<number> => {
      const body = JSON.stringify({
        ...{ type: 'Create', actor: { type: 'Person', id: 'users/ada', name: 'Ada' } },
        object: { type: 'Note', id: String(id), name: 'message', content, mediaType: 'text/plain' },
        target: { type: 'Collection', id: 'den', name: 'Den' },
      });
      const random = 'f'.repeat(64);
      const signature = createHmac('sha256', key)
        .update(random + body)
        .digest('hex');
      const answer = await fetch(`http://127.0.0.1:${webhookPort}/nextcloud-talk-webhook`, {
        ...{ method: 'POST', body },
        headers: {
          ...{ 'x-nextcloud-talk-signature': signature, 'x-nextcloud-talk-random': random },
          'x-nextcloud-talk-backend': cloud.url,
        },
      });
      await answer.text();
      return answer.status;
    };
    const first = await lab.begin('hangs');
    await first.heard('log', ({ line }) => line.includes('webhook listening'));
    expect(await bring('nobody', 1, 'another secret')).toBe(401);
    expect(await bring('are you there?', 2)).toBe(200);
    await first.heard('begun');
    await first.kill();
    const second = await lab.begin();
    expect(await second.heard('end')).toMatchObject({ status: 'answered' });
    await second.heard('log', ({ line }) => line.includes('webhook listening'));
    expect(await bring('are you there?', 2)).toBe(200);
    expect(await bring('and now?', 3)).toBe(200);
    await second.heard('end', ({ texts }) => texts[0] === 'and now?');
    expect(cloud.said).toEqual(['are you there?', 'and now?']);
    const place = { channel: 'nextcloud-talk', accountId: 'default', to: 'den' };
    second.ask({ ...place, content: 'by myself' });
    expect(await second.heard('sent')).toMatchObject({ status: 'sent' });
    expect(cloud.said).toHaveLength(3);
  });
});

/** A stand-in for the server: it takes the bot's messages if they are signed rightly. */
async function cloudStandIn() {
  const said: string[] = [];
  const server = await jsonServer(({ headers, body }) => {
    const { message = '' } = JSON.parse(body || '{}') as { message?: string };
    const { 'x-nextcloud-talk-bot-random': random, 'x-nextcloud-talk-bot-signature': signature } =
      headers;
    const wanted = createHmac('sha256', secret)
      .update(`${String(random)}${message}`)
      .digest('hex');
    if (signature === wanted) said.push(message);
    return [signature === wanted ? 201 : 401, { ocs: { data: { id: 7 } } }];
  });
  return { ...server, said };
}
