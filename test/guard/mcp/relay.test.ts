import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { relayLab, type Said, settle, text, within } from './mcp-lab.js';

type End = 'client' | 'server';

/** One step of a session: a message of one end, which answers what is open by its place in a list. */
interface Step {
  readonly from: End;
  readonly kind: 'request' | 'notification' | 'result' | 'error' | 'cancel' | 'progress';
  readonly method: string;
  readonly value: unknown;
  readonly at: number;
  readonly id: number | string;
}

const methods: Record<End, readonly string[]> = {
  client: [
    ...['ping', 'resources/read', 'prompts/get', 'completion/complete', 'logging/setLevel'],
    ...[
      'tools/list',
      'tools/call',
      'tasks/get',
      'tasks/result',
      'resources/subscribe',
      'any/thing',
    ],
  ],
  server: ['ping', 'sampling/createMessage', 'elicitation/create', 'roots/list', 'tasks/list'],
};
const value = fc.jsonValue({ maxDepth: 2 });
const step = (from: End): fc.Arbitrary<Step> =>
  fc.record({
    from: fc.constant(from),
    kind: fc.constantFrom(
      'request',
      'request',
      'notification',
      'result',
      'error',
      'cancel',
      'progress',
    ),
    method: fc.constantFrom(...methods[from]),
    value,
    at: fc.nat(5),
    id: fc.oneof(fc.nat(1_000), fc.string({ maxLength: 4 })),
  });

/** Says the steps over a pair of ends: ids are used once, and nobody answers what was cancelled. */
async function run(steps: readonly Step[], say: (from: End, message: Said) => Promise<void>) {
  const [used, open]: [Set<unknown>, Record<End, Said[]>] = [new Set(), { client: [], server: [] }];
  for (const { from, kind, method, value: given, at, id } of steps) {
    const other = from === 'client' ? 'server' : 'client';
    const [mine, theirs] = [open[from], open[other]];
    if (kind === 'request' && !used.has(`${from}${typeof id}${id}`)) {
      used.add(`${from}${typeof id}${id}`);
      const params = {
        name: 'tool',
        arguments: { given },
        _meta: { progressToken: id, own: given },
      };
      mine.push({ id });
      await say(from, { id, method, params });
    }
    if (kind === 'notification')
      await say(from, { method: 'notifications/message', params: { level: 'info', data: given } });
    const [asked] = kind === 'result' || kind === 'error' ? theirs.splice(at, 1) : [];
    const result = { content: [{ type: 'text', text: JSON.stringify(given) }], more: given };
    if (asked !== undefined && kind === 'result') await say(from, { ...asked, result });
    if (asked !== undefined && kind === 'error')
      await say(from, { ...asked, error: { code: -32603, message: 'no', data: given } });
    const [left] = kind === 'cancel' ? mine.splice(at, 1) : [];
    const cancelled = { requestId: left?.['id'], reason: 'enough' };
    if (left !== undefined)
      await say(from, { method: 'notifications/cancelled', params: cancelled });
    const params = { progressToken: theirs[at]?.['id'], progress: at, message: 'on' };
    if (kind === 'progress' && theirs[at] !== undefined)
      await say(from, { method: 'notifications/progress', params });
  }
}

describe('a session through the proxy', () => {
  it('is message for message the same as without it, if no rule acts', async () => {
    const sessions = fc.array(fc.oneof(step('client'), step('server')), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(sessions, async (steps) => {
        const [client, server] = InMemoryTransport.createLinkedPair();
        const direct: Record<End, Said[]> = { client: [], server: [] };
        client.onmessage = (message) => void direct.client.push(message);
        server.onmessage = (message) => void direct.server.push(message);
        await run(steps, async (from, message) => {
          const said = { jsonrpc: '2.0', ...message } as JSONRPCMessage;
          await (from === 'client' ? client : server).send(said);
        });
        const lab = await relayLab();
        await run(steps, lab.say);
        expect(lab.got).toEqual(direct);
        expect(lab.warnings).toEqual([]);
        await lab.relay.end('client');
        expect(lab.clock.pending).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});

describe('the ids of requests', () => {
  it('of both ends may be the same, and each answer reaches the end that has asked', async () => {
    const { say, got } = await relayLab();
    await say('client', { id: 1, method: 'ping' });
    await say('server', { id: 1, method: 'roots/list' });
    await say('client', { id: 1, result: { roots: [] } });
    await say('server', { id: 1, result: { own: true } });
    expect(got.server).toMatchObject([{ method: 'ping' }, { result: { roots: [] } }]);
    expect(got.client).toMatchObject([{ method: 'roots/list' }, { result: { own: true } }]);
  });

  it('are refused while a request with the same id is open, which keeps its answer', async () => {
    const { say, got } = await relayLab();
    await say('client', { id: 1, method: 'tools/call', params: { name: 'one' } });
    await say('client', { id: 1, method: 'resources/read', params: { uri: 'a://b' } });
    expect(got.server).toHaveLength(1);
    expect(got.client).toMatchObject([{ id: 1, error: { code: -32600 } }]);
  });
});

describe('a server that misbehaves', () => {
  it('answers twice, or what nobody has asked: only the first answer to a request goes on', async () => {
    const { say, got, warnings } = await relayLab();
    await say('client', { id: 1, method: 'ping' });
    await say('server', { id: 1, result: { first: true } });
    await say('server', { id: 1, result: { second: true } });
    await say('server', { id: 7, result: {} });
    expect(got.client).toEqual([{ jsonrpc: '2.0', id: 1, result: { first: true } }]);
    expect(warnings).toHaveLength(2);
  });

  it('cannot slip in a second answer while the first one is judged', async () => {
    let tell: (() => void) | undefined;
    const { say, got, heard } = await relayLab((point) =>
      point === 'agent.tool.calling'
        ? { status: 'allowed' }
        : new Promise((resolve) => {
            tell = () => resolve({ status: 'refused', reason: 'withheld' });
          }),
    );
    await say('client', { id: 1, method: 'tools/call', params: { name: 'one' } });
    await say('server', { id: 1, result: text('secret') });
    await say('server', { id: 1, result: text('secret') });
    await say('server', { id: 1, result: null });
    expect(got.client).toEqual([]);
    expect(heard).toHaveLength(2);
    tell?.();
    await settle();
    expect(got.client).toMatchObject([{ id: 1, result: { isError: true } }]);
  });

  it('cannot answer a call that it has not got yet', async () => {
    const { say, got } = await relayLab((point) =>
      point === 'agent.tool.calling' ? new Promise(() => undefined) : { status: 'allowed' },
    );
    await say('client', { id: 1, method: 'tools/call', params: { name: 'one' } });
    await say('server', { id: 1, result: text('a guess') });
    expect(got.client).toEqual([]);
  });

  it('sends what is no JSON-RPC: the request has an error for an answer', async () => {
    const { say, got } = await relayLab();
    await say('client', { id: 1, method: 'ping' });
    await say('server', { id: 1, result: null });
    await say('server', { result: {} });
    expect(got.client).toMatchObject([
      { id: 1, error: { message: expect.stringMatching(/no JSON-RPC/) } },
    ]);
  });

  it('hangs: the request ends by its time limit, and the server is told', async () => {
    const { say, got, clock } = await relayLab(undefined, within({ requestMs: 60_000 }));
    await say('client', { id: 1, method: 'tools/call', params: { name: 'one' } });
    await clock.advance(60_000);
    expect(got.client).toMatchObject([{ id: 1, error: { code: -32001 } }]);
    expect(got.server[1]).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: 1 },
    });
    await say('server', { id: 1, result: text('late') });
    expect(got.client).toHaveLength(1);
  });

  it('dies: what is open fails, what is answered is still judged, and the client is let go', async () => {
    let tell: (() => void) | undefined;
    const { relay, say, got, gone, ends, clock } = await relayLab((point) =>
      point === 'agent.tool.calling'
        ? { status: 'allowed' }
        : new Promise((resolve) => {
            tell = () => resolve({ status: 'allowed', result: 'a part' });
          }),
    );
    await say('client', { id: 1, method: 'ping' });
    await say('client', { id: 2, method: 'tools/call', params: { name: 'one' } });
    await say('server', { id: 2, result: text('the whole') });
    await ends.server.close();
    await settle();
    expect(got.client).toMatchObject([{ id: 1, error: { message: 'the server has gone' } }]);
    expect(gone).not.toContain('client');
    tell?.();
    expect(await relay.closed).toBe('server');
    expect(got.client[1]).toMatchObject({ id: 2, result: text('a part') });
    expect(gone).toContain('client');
    expect(clock.pending).toBe(0);
  });
});

describe('a client that leaves', () => {
  it('ends the server, and calls that are being judged are not made', async () => {
    const { relay, say, got, gone, ends, clock } = await relayLab(
      (_, __, signal) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason)),
        ),
    );
    await say('client', { id: 1, method: 'tools/call', params: { name: 'one' } });
    await say('server', { id: 1, method: 'sampling/createMessage', params: {} });
    await ends.client.close();
    await clock.advance(10_000);
    expect(await relay.closed).toBe('client');
    expect(gone).toContain('server');
    expect(got.server).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('may have more requests open than allowed: the next ones are refused, on both sides alike', async () => {
    const { say, got } = await relayLab(undefined, within({ maxOpen: 2 }));
    for (const id of [1, 2, 3]) await say('client', { id, method: 'ping' });
    for (const id of [1, 2, 3]) await say('server', { id, method: 'roots/list' });
    expect(got.server.filter(({ method }) => method === 'ping')).toHaveLength(2);
    expect(got.client.at(0)).toMatchObject({ id: 3, error: { message: '2 requests are open' } });
    expect(got.server.at(-1)).toMatchObject({ id: 3, error: { message: '2 requests are open' } });
  });

  it('cancels the right request: one that is judged never reaches the server', async () => {
    const { say, got } = await relayLab((_, { params }, signal) =>
      params?.['wait'] === true
        ? new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason)),
          )
        : { status: 'allowed' },
    );
    const params = (wait: boolean) => ({ name: 'one', arguments: { wait } });
    await say('client', { id: 1, method: 'tools/call', params: params(true) });
    await say('client', { id: 2, method: 'tools/call', params: params(false) });
    await say('server', { id: 1, method: 'ping' });
    await say('client', { method: 'notifications/cancelled', params: { requestId: 1 } });
    await say('client', { method: 'notifications/cancelled', params: { requestId: 2 } });
    await say('client', { id: 1, result: {} }); // to the server's request of the same id
    expect(got.server).toMatchObject([
      { id: 2, method: 'tools/call' },
      { method: 'notifications/cancelled', params: { requestId: 2 } },
      { id: 1, result: {} },
    ]);
    await say('server', { id: 2, result: text('late') });
    expect(got.client).toHaveLength(1);
  });
});

describe('a call that is no plain request', () => {
  it.each([
    ['without an id', { method: 'tools/call', params: { name: 'one' } }],
    ['with an id that is no id', { id: null, method: 'tools/call', params: { name: 'one' } }],
    [
      'with a result beside it',
      { id: 1, method: 'tools/call', params: { name: 'one' }, result: {} },
    ],
    ['without a name', { id: 1, method: 'tools/call', params: {} }],
    [
      'with a list of arguments',
      { id: 1, method: 'tools/call', params: { name: 'one', arguments: [] } },
    ],
  ])('%s never reaches the server', async (_, message) => {
    const { say, got } = await relayLab();
    await say('client', message);
    expect(got.server).toEqual([]);
  });

  it('in a batch is judged by itself', async () => {
    const { say, got, heard } = await relayLab((_, { toolName }) =>
      toolName?.endsWith('two') === true
        ? { status: 'refused', reason: 'no' }
        : { status: 'allowed' },
    );
    const call = (id: number, name: string) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name },
    });
    await say('client', [call(1, 'one'), call(2, 'two')]);
    expect(heard).toHaveLength(2);
    expect(got.server).toMatchObject([{ id: 1 }]);
    expect(got.client).toMatchObject([{ id: 2, result: { isError: true } }]);
  });
});
