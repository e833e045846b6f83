import { type WebSocket, WebSocketServer } from 'ws';
import { jsonServer } from './json-server.js';

/** The id of a channel: another text would be its name. */
export const town = 'town'.padEnd(26, '0');
export const direct = 'direct'.padEnd(26, '0');

/** A stand-in for the server: its REST interface as far as the channel asks, and its socket. */
export async function mattermostStandIn() {
  const posted: (readonly [channel: string, message: string])[] = [];
  let connect: (socket: WebSocket) => void = () => undefined;
  const connected = new Promise<WebSocket>((resolve) => {
    connect = resolve;
  });
  const answers: Readonly<Record<string, object>> = {
    '/users/me': { id: 'bot', username: 'slb' },
    '/users/ada': { id: 'ada', username: 'ada' },
    '/channels/direct': { id: 'dm', type: 'D' },
    '/channels/dm': { id: 'dm', type: 'D', name: 'ada__bot' },
    [`/channels/${direct}`]: { id: direct, type: 'D', name: 'ada__bot' },
    [`/channels/${town}`]: { id: town, type: 'O', name: 'town', display_name: 'Town' },
  };
  const provider = await jsonServer(({ method, path: asked, body }) => {
    const path = asked.replace('/api/v4', '');
    if (path !== '/posts' || method !== 'POST') return answers[path] ?? {};
    const post = JSON.parse(body) as Readonly<Record<string, string>>;
    posted.push([post['channel_id'] ?? '', post['message'] ?? '']);
    return { id: `r${posted.length}` };
  });
  const sockets = new WebSocketServer({ server: provider.server });
  sockets.on('connection', (socket) => socket.once('message', () => connect(socket)));
  return {
    ...{ posted, connected, url: provider.url },
    account: {
      ...{ baseUrl: provider.url, botToken: 'a-dummy-token', chatmode: 'oncall' },
      ...{ dmPolicy: 'open', allowFrom: ['*'], groupPolicy: 'open', groupAllowFrom: ['*'] },
      ...{ commands: { native: false }, network: { dangerouslyAllowPrivateNetwork: true } },
    },
    post: (
      socket: WebSocket,
      said: {
        readonly id: string;
        readonly channel: string;
        readonly type: string;
        readonly message: string;
      },
    ): void => {
      const { id, channel, type, message } = said;
      const post = { id, channel_id: channel, user_id: 'ada', message, create_at: 1 };
      const data = { post: JSON.stringify(post), channel_type: type, sender_name: '@ada' };
      socket.send(
        JSON.stringify({ event: 'posted', data, broadcast: { channel_id: channel }, seq: 1 }),
      );
    },
    [Symbol.asyncDispose]: async () => {
      for (const client of sockets.clients) client.terminate();
      sockets.close();
      await provider[Symbol.asyncDispose]();
    },
  };
}
