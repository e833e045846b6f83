import { createHmac } from 'node:crypto';
import { jsonServer } from './json-server.js';
import { freePort } from './ngircd.js';

const secret = 'a dummy secret of a test';

/** A stand-in for the server: it takes the bot's messages if they are signed rightly. */
export async function cloudStandIn() {
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
  const webhookPort = await freePort();
  const account = {
    ...{ baseUrl: server.url, botSecret: secret, webhookPort, webhookHost: '127.0.0.1' },
    ...{ dmPolicy: 'open', allowFrom: ['*'], groupPolicy: 'open', groupAllowFrom: ['*'] },
    ...{
      rooms: { den: { requireMention: false } },
      network: { dangerouslyAllowPrivateNetwork: true },
    },
  };
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
        'x-nextcloud-talk-backend': server.url,
      },
    });
    await answer.text();
    return answer.status;
  };
  return { ...server, said, account, bring };
}
