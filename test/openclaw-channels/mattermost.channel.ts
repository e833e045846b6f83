import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, inject, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { channelLab } from './channel-lab.js';

const openclaw = inject('openClawWithChannels');

describe.skipIf(openclaw === undefined)('the unmodified mattermost of OpenClaw', () => {
  it('takes a direct post in from its socket, and answers it by a request (event-pipeline §17.19)', async () => {
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
    await lab.ended(({ status }) => status === 'answered');
    expect(server.posted).toEqual([['dm', 'hello there']]);
    expect(lab.ends).toHaveLength(1);
  });
});

/** A stand-in for the server: its REST interface as far as the channel asks, and its socket. */
async function mattermostStandIn() {
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
  };
  const server = createServer(async (request, response) => {
    const path = (request.url ?? '').replace('/api/v4', '');
    const body = JSON.parse((await text(request)) || '{}') as Readonly<Record<string, string>>;
    const isPost = path === '/posts' && request.method === 'POST';
    if (isPost) posted.push([body['channel_id'] ?? '', body['message'] ?? '']);
    const answer = isPost ? { id: `r${posted.length}` } : (answers[path] ?? {});
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => socket.once('message', () => connect(socket)));
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    ...{ posted, connected, url: `http://127.0.0.1:${port}` },
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
      server.closeAllConnections();
      server.close();
    },
  };
}
