import { createHash } from 'node:crypto';
import { jsonServer } from './json-server.js';
import { freePort } from './ngircd.js';

const encryptKey = 'a-dummy-key';

/** A stand-in for the cloud: it takes the replies of the bot, and signs its events. */
export async function feishuStandIn() {
  const said: unknown[] = [];
  const cloud = await jsonServer(({ method, path, headers, body }) => {
    if (path.endsWith('/tenant_access_token/internal'))
      return { code: 0, expire: 7200, tenant_access_token: 't-dummy' };
    if (headers.authorization !== 'Bearer t-dummy') return [401, { code: 99_991_663 }];
    if (path === '/open-apis/bot/v3/info')
      return { code: 0, bot: { bot_name: 'slb', open_id: 'ou_bot' } };
    if (method === 'POST' && /\/im\/v1\/messages(\/[^/]+\/reply)?$/.test(path)) {
      said.push([path.split('/im/v1/')[1], JSON.parse(body)]);
      return { code: 0, data: { message_id: `om_sent_${said.length}` } };
    }
    return { code: 0, data: {} };
  });
  const webhookPort = await freePort();
  const bring = async (text: string, id: string, key = encryptKey): Promise<number> => {
    const payload = {
      schema: '2.0',
      header: {
        ...{ event_id: id, event_type: 'im.message.receive_v1', app_id: 'cli_dummy' },
        ...{ token: 'a-dummy-token', create_time: `${Date.now()}`, tenant_key: 'dummy' },
      },
      event: {
        sender: { sender_id: { open_id: 'ou_ada', user_id: 'ada' }, sender_type: 'user' },
        message: {
          ...{ message_id: `om_${id}`, chat_id: 'oc_dm', chat_type: 'p2p' },
          ...{ message_type: 'text', content: JSON.stringify({ text }) },
          create_time: `${Date.now()}`,
        },
      },
    };
    const at = `${Math.floor(Date.now() / 1_000)}`; // it takes no old one
    const [nonce, body] = ['n', JSON.stringify(payload)];
    const signature = createHash('sha256')
      .update(at + nonce + key + body)
      .digest('hex');
    const answer = await fetch(`http://127.0.0.1:${webhookPort}/feishu/events`, {
      ...{ method: 'POST', body },
      headers: {
        ...{ 'content-type': 'application/json', 'x-lark-request-timestamp': at },
        ...{ 'x-lark-request-nonce': nonce, 'x-lark-signature': signature },
      },
    });
    await answer.text();
    return answer.status;
  };
  const account = {
    ...{ appId: 'cli_dummy', appSecret: 'a-dummy-secret', domain: cloud.url },
    ...{ connectionMode: 'webhook', webhookPort, webhookHost: '127.0.0.1' },
    ...{ verificationToken: 'a-dummy-token', encryptKey, streaming: false },
    ...{ dmPolicy: 'open', allowFrom: ['*'], renderMode: 'raw' },
  };
  return { ...cloud, said, bring, account };
}
