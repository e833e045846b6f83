import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import {
  CreateMessageRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterEach, describe, expect, it } from 'vitest';
import { listen } from '../../../extensions/guard/src/mcp/listen.js';
import type { McpOptions } from '../../../extensions/guard/src/mcp/options.js';
import { Relay } from '../../../extensions/guard/src/mcp/relay.js';
import { allow, optionsWith, type Said, type TestJudge, text, within } from './mcp-lab.js';

const token = 'a-token-of-a-test';
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A door with a server for each client, whose answers a test gives. */
async function doorLab(
  answer: (message: Said, say: (said: Said) => Promise<void>) => Promise<unknown> | unknown,
  { judge = allow, ...more }: Partial<Omit<McpOptions, 'judge'>> & { judge?: TestJudge } = {},
) {
  const { options, warnings, clock } = optionsWith(judge, more);
  const ended: string[] = [];
  const door = await listen({ ...options, port: 0, token }, async (client) => {
    const [far, server] = InMemoryTransport.createLinkedPair();
    const say = (said: Said) => server.send({ jsonrpc: '2.0', ...said } as JSONRPCMessage);
    server.onmessage = (message) => {
      const { id, method, params } = message as Said;
      const result = {
        ...{
          protocolVersion: Object(params).protocolVersion,
          serverInfo: { name: 's', version: '1' },
        },
        capabilities: { tools: {}, logging: {}, resources: { subscribe: true } },
      };
      void (method === 'initialize' ? say({ id, result }) : answer(message as Said, say));
    };
    server.onclose = () => void ended.push('server');
    await server.start();
    const relay = new Relay(client, far, options);
    await relay.start();
    return relay;
  });
  closing.push(() => door.close());
  const connect = async (prepare: (client: Client) => void = () => undefined) => {
    const capabilities = { roots: {}, sampling: {} };
    const client = new Client({ name: 'test', version: '1' }, { capabilities });
    prepare(client);
    const headers = { authorization: `Bearer ${token}` };
    const transport = new StreamableHTTPClientTransport(new URL(door.url), {
      requestInit: { headers },
    });
    await client.connect(transport);
    closing.push(() => client.close());
    return { client, transport };
  };
  return { door, connect, ended, warnings, clock };
}

const post = (url: string, headers: Readonly<Record<string, string>>, body: unknown = {}) =>
  fetch(url, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...headers,
    },
    body: JSON.stringify(body),
  });
const authorization = `Bearer ${token}`;

describe('the port of a proxy', () => {
  it.each<[string, number, Readonly<Record<string, string>>]>([
    ['without the token', 401, {}],
    ['with another token', 401, { authorization: 'Bearer other' }],
    ['from a page', 403, { authorization, origin: 'http://127.0.0.1' }],
    ['of a session that is not there', 404, { authorization, 'mcp-session-id': 'x' }],
    ['that begins no session', 400, { authorization }],
  ])('refuses a request %s', async (_, status, headers) => {
    const { door } = await doorLab(() => undefined);
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'one' } };
    expect((await post(door.url, headers, body)).status).toBe(status);
  });

  it('refuses a message that is too large', async () => {
    const { door } = await doorLab(() => undefined, within({ maxBytes: 1_000 }));
    expect((await post(door.url, { authorization }, 'x'.repeat(2_000))).status).toBe(413);
  });

  it('has a bounded number of sessions, and takes another one when one has ended', async () => {
    const { connect, ended } = await doorLab(() => undefined);
    const all = await Promise.allSettled(Array.from({ length: 20 }, () => connect()));
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(16);
    await expect(connect()).rejects.toThrow('16 sessions are open');
    const first = all.find((one) => one.status === 'fulfilled')?.value;
    await first?.transport.terminateSession();
    await expect.poll(() => ended).toEqual(['server']);
    await connect();
  });

  it('ends a session that nobody has been connected to for ten minutes', async () => {
    const { connect, ended, clock } = await doorLab(() => undefined);
    const { client } = await connect();
    await client.close();
    const later = () => clock.advance(600_000).then(() => ended);
    await expect.poll(later).toEqual(['server']);
  });
});

describe('a session over HTTP', () => {
  it('carries what the server asks as soon as it is told that the session has begun', async () => {
    const answers: unknown[] = [];
    const { connect } = await doorLab(({ method, id, result }, say) => {
      if (method === 'notifications/initialized') return say({ id: 'r', method: 'roots/list' });
      return id === 'r' ? answers.push(result) : undefined;
    });
    await connect((client) =>
      client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///a' }] })),
    );
    await expect.poll(() => answers).toEqual([{ roots: [{ uri: 'file:///a' }] }]);
  });

  it('carries sampling, progress and logs of a call, and judges the call', async () => {
    let call: Said = {};
    const { connect } = await doorLab(
      async ({ method, id, params, result }, say) => {
        if (method === 'tools/call') {
          call = { id, ...Object(params) };
          const { progressToken } = Object(Object(params)._meta);
          await say({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
          await say({ method: 'notifications/message', params: { level: 'info', data: 'half' } });
          await say({
            id: 1,
            method: 'sampling/createMessage',
            params: { messages: [], maxTokens: 1 },
          });
        } else if (id === 1) await say({ id: call['id'], result: text(Object(result).model) });
      },
      {
        judge: (point, { result }) => ({
          status: 'allowed',
          ...(point === 'agent.tool.returning' && { result: `${result?.text}, judged` }),
        }),
      },
    );
    const logs: unknown[] = [];
    const { client } = await connect((one) => {
      one.setRequestHandler(CreateMessageRequestSchema, () => ({
        ...{ model: 'loopback', role: 'assistant' as const },
        content: { type: 'text' as const, text: 'yes' },
      }));
      one.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
        logs.push(params.data);
      });
    });
    const steps: number[] = [];
    const result = await client.callTool({ name: 'ask' }, undefined, {
      onprogress: ({ progress }) => void steps.push(progress),
    });
    expect(result).toMatchObject(text('loopback, judged'));
    expect(steps).toEqual([1]);
    expect(logs).toEqual(['half']);
  });

  it('keeps clients apart: each has a server of its own, and only its own messages', async () => {
    const { connect, ended } = await doorLab(({ method, id, params }, say) =>
      method === 'resources/subscribe'
        ? say({ id, result: {} }).then(() =>
            say({ method: 'notifications/resources/updated', params: Object(params) }),
          )
        : undefined,
    );
    const heard: string[] = [];
    const clients = await Promise.all(
      ['a', 'b'].map((name) =>
        connect((client) =>
          client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
            heard.push(`${name} of ${params.uri}`);
          }),
        ),
      ),
    );
    await clients[0]?.client.subscribeResource({ uri: 'x://a' });
    await clients[1]?.client.subscribeResource({ uri: 'x://b' });
    await expect.poll(() => heard.toSorted()).toEqual(['a of x://a', 'b of x://b']);
    await clients[0]?.transport.terminateSession();
    await expect.poll(() => ended).toEqual(['server']);
    await clients[1]?.client.subscribeResource({ uri: 'x://b' });
  });

  it('keeps a bounded number of bytes for a client that has no stream: the oldest are given up', async () => {
    let asked = 0;
    const answers: Said[] = [];
    const { door, ended, warnings } = await doorLab(
      ({ method, id, error }, say) => {
        const data = 'x'.repeat(100_000);
        if (method === 'notifications/next')
          return say({ id: `r${asked++}`, method: 'roots/list', params: { data } });
        return answers.push({ id, error });
      },
      within({ maxUnread: 250_000 }),
    );
    const said = (method: string, more: Said, session?: string | null) =>
      post(
        door.url,
        { authorization, ...(session != null && { 'mcp-session-id': session }) },
        { jsonrpc: '2.0', method, ...more },
      );
    const clientInfo = { name: 'c', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const begun = await said('initialize', { id: 1, params });
    await begun.text();
    const session = begun.headers.get('mcp-session-id');
    for (let at = 0; at < 2; at++) await said('notifications/next', {}, session);
    expect(answers).toEqual([]);
    await said('notifications/next', {}, session);
    await expect.poll(() => answers.at(0)).toMatchObject({ id: 'r0', error: { code: -32000 } });
    expect([ended, warnings]).toEqual([[], []]);
  });

  it('ends if its client does not read a flood', async () => {
    const { connect, ended, warnings } = await doorLab(
      async ({ method }, say) => {
        const data = 'x'.repeat(10_000);
        if (method === 'tools/call')
          for (let at = 0; at < 1_000; at++)
            await say({ method: 'notifications/message', params: { level: 'info', data } }).catch(
              () => undefined, // the session has ended
            );
      },
      within({ maxUnread: 400_000 }),
    );
    const { client } = await connect();
    void client.callTool({ name: 'flood' }).catch(() => undefined); // nobody answers it
    await expect.poll(() => ended).toEqual(['server']);
    expect(warnings).toContain('a client does not read: its session ends');
  });
});
