import { text as textOf } from 'node:stream/consumers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { startHealthServer } from '../../../../src/host/index.js';
import type { LegacyAccountContext } from '../../../../src/openclaw/index.js';
import { virtualClock } from '../../../../src/testing/index.js';
import { hostLab } from '../../../support/host-lab.js';
import { type PostOffice, postOffice } from '../channel-lab.js';
import { breakMembers, call, labOf, type Queue, queueOf } from './way-lab.js';

afterEach(() => vi.restoreAllMocks());

describe('a member that fails on the way of a message (event-pipeline §17.36)', () => {
  it.each(['throws', 'rejects'] as const)(
    'is trouble if it %s: a dead letter with the cause, and a degraded account until a message is answered without it',
    async (how) => {
      let isBroken = true;
      breakMembers((member) => isBroken && member.endsWith('.text.hasControlCommand'), how);
      await using lab = await labOf(async (post, text) => {
        await call(post, 'text', 'hasControlCommand', text);
        await post.bring(text);
      });
      await lab.say('hello');
      expect(lab.degraded()).toEqual([
        ['post/default', 'api.runtime.channel.text.hasControlCommand has failed'],
      ]);
      await lab.clock.advance(10_000);
      await vi.waitFor(() => expect(lab.ends).toHaveLength(1), 60_000);
      expect(lab.ends[0]).toMatchObject({
        status: 'undecodable',
        reason: expect.stringContaining('hasControlCommand: a fault of ours'),
      });
      expect(lab.of('ingress.received')[0]?.payload.raw).toMatchObject({
        cameAs: '{"texts":["hello"]}',
      });
      isBroken = false;
      await lab.say('again');
      expect(lab.degraded().map(([whose]) => whose)).not.toContain('post/default');
    },
  );

  it('is no loss if the message is handed over all the same', async () => {
    breakMembers((member) => member.endsWith('.text.hasControlCommand'));
    await using lab = await labOf(async (post, text) => {
      try {
        call(post, 'text', 'hasControlCommand', text);
      } catch {
        await post.bring(text);
      }
    });
    await lab.say('hello');
    await lab.clock.advance(60_000);
    expect(lab.ends.map(({ status }) => status)).toEqual(['answered']);
    expect(lab.degraded()).toEqual([]);
  });

  it('loses no item of a debouncer: also if its own code fails, and nobody listens to its errors', async () => {
    const how = { debounceMs: 50, buildKey: (text: string) => text.slice(0, 1) };
    await using lab = await labOf(async (post, text) => {
      const onFlush = async (): Promise<never> => {
        throw new Error('createFlush is not a function');
      };
      const debouncer = call(post, 'debounce', 'createInboundDebouncer', { ...how, onFlush }) as {
        enqueue(item: string): Promise<void>;
      };
      await debouncer.enqueue(text);
    });
    await lab.say('hello');
    await lab.clock.advance(50);
    await vi.waitFor(() => expect(lab.ends).toHaveLength(1), 60_000);
    expect(lab.ends[0]?.reason).toContain('createFlush is not a function');
    expect(lab.of('ingress.received')[0]?.payload.raw).toMatchObject({ cameAs: '["hello"]' });
  });

  it('ends an account for good whose monitor is refused, and names the member', async () => {
    const lines: string[] = [];
    const run = async (_context: LegacyAccountContext): Promise<unknown> =>
      call(post, 'line', 'monitorLineProvider', {});
    const post = postOffice({ run });
    await using lab = await hostLab({ loadPlugins: post.load });
    await lab.clock.advance(3_600_000);
    expect(post.started).toHaveLength(1);
    lines.push(...lab.host.health().degraded.map(({ what }) => what ?? ''));
    expect(lines).toContainEqual(
      'it has ended for good: api.runtime.channel.line.monitorLineProvider is not supported',
    );
  });

  it('ends no account for good that had run for 300 seconds before its line broke', async () => {
    const clock = virtualClock();
    const run = async (): Promise<void> => {
      call(post, 'line', 'probe', {});
      await new Promise<void>((resolve) => void clock.setTimeout(resolve, 400_000));
    };
    const post = postOffice({ run });
    await using _ = await hostLab({ loadPlugins: post.load, clock });
    for (let passed = 0; passed < 420_000; passed += 10_000) {
      await new Promise(setImmediate);
      await clock.advance(10_000);
    }
    expect(post.started).toHaveLength(2);
  });

  it('makes a delivery a send that has failed, whatever the code of the plugin makes of it', async () => {
    breakMembers((member) => member.endsWith('.text.chunkText'));
    const deliver = (text: string | undefined): void => {
      try {
        call(lab.post, 'text', 'chunkText', text, 100);
      } catch {
        // swallowed, as plugins do
      }
    };
    const lab = await labOf((post, text) => post.bring(text), { deliver });
    await using _ = lab;
    await lab.say('hello');
    expect(lab.ends[0]?.sends).toMatchObject([
      { status: 'failed', error: expect.stringContaining('a fault of ours') },
    ]);
    expect(lab.degraded()).toContainEqual([
      'post/default',
      'api.runtime.channel.text.chunkText has failed',
    ]);
  });

  it('is the plugin’s own affair while it registers, and in the work of the host', async () => {
    breakMembers((member) => member.endsWith('.system.formatNativeDependencyHint'));
    await using lab = await labOf((post, text) => post.bring(text));
    await lab.say('hello');
    expect([lab.ends.length, lab.degraded()]).toEqual([1, []]);
  });
});

describe('an event of the queue of a channel (event-pipeline §17.36)', () => {
  const work =
    (end: (queue: Queue, event: { id: string }) => Promise<unknown>) =>
    async (post: PostOffice, text: string): Promise<void> => {
      const queue = queueOf(post);
      await queue.enqueue(text, { text });
      const event = await queue.claimNext();
      if (event === null) return;
      try {
        call(post, 'line', 'probe', {});
        call(post, 'text', 'hasControlCommand', text);
      } catch {
        // swallowed, as plugins do
      }
      await end(queue, event);
    };
  it.each<[string, Parameters<typeof work>[0], string]>([
    ['completed after a failure', (queue, event) => queue.complete(event), 'probe'],
    ['failed', (queue, event) => queue.fail(event, { reason: 'no route' }), 'no route'],
  ])(
    'that is %s without a message is a dead letter with what it held',
    async (_how, end, cause) => {
      await using lab = await labOf(work(end));
      await lab.say('hello');
      await vi.waitFor(() => expect(lab.ends).toHaveLength(1), 60_000);
      expect(lab.ends[0]?.reason).toContain(cause);
      expect(lab.of('ingress.received')[0]?.payload.raw).toMatchObject({
        cameAs: '{"text":"hello"}',
      });
    },
  );

  it('that is given back with an error is trouble, and is tried again', async () => {
    await using lab = await labOf(
      work((queue, event) => queue.release(event, { lastError: 'no line' })),
    );
    await lab.say('hello');
    expect(lab.degraded()).toContainEqual([
      'post/default',
      'api.runtime.state.openChannelIngressQueue.release has failed',
    ]);
    expect(lab.ends).toEqual([]);
  });

  it('that its channel has judged, without a failure, is no loss', async () => {
    await using lab = await labOf(async (post, text) => {
      const queue = queueOf(post);
      await queue.enqueue(text, { text });
      const event = await queue.claimNext();
      if (event !== null) await queue.complete(event);
    });
    await lab.say('hello');
    await lab.clock.advance(60_000);
    expect([lab.ends, lab.degraded()]).toEqual([[], []]);
  });
});

describe('an HTTP request on the way of a message (event-pipeline §17.36)', () => {
  type Answer = { writeHead(status: number): { end(text: string): void } };
  type Route = (request: AsyncIterable<Buffer>, response: Answer) => Promise<void>;

  /** A channel that has a route from the start of its account. */
  async function routeLab(route: (post: PostOffice) => Route) {
    let handler: Route = async () => undefined;
    const register = (api: { registerHttpRoute(route: object): void }): void =>
      api.registerHttpRoute({
        ...{ path: '/post', auth: 'plugin', match: 'exact' },
        handler: (request: AsyncIterable<Buffer>, response: Answer) => handler(request, response),
      });
    const lab = await labOf(() => undefined, { routes: true, register });
    handler = route(lab.post);
    const port = await startHealthServer(lab.host, { port: 0 });
    const ask = async (body: string): Promise<number> =>
      (await fetch(`${port.url}/post`, { method: 'POST', body })).status;
    const end = async (): Promise<void> => {
      await port[Symbol.asyncDispose]();
      await lab[Symbol.asyncDispose]();
    };
    return { lab, ask, [Symbol.asyncDispose]: end };
  }
  it('is not answered 200 if its text is lost, and the text is a dead letter without its secrets', async () => {
    await using routes = await routeLab((post) => async (request, response) => {
      await textOf(request);
      call(post, 'line', 'probe', {}); // it is not there, and the plugin goes on
      response.writeHead(200).end('ok');
    });
    expect(await routes.ask('text=hello&token=abc')).toBe(500);
    await vi.waitFor(() => expect(routes.lab.ends).toHaveLength(1), 60_000);
    const { raw } = routes.lab.of('ingress.received')[0]?.payload ?? {};
    expect(raw).toMatchObject({
      cameAs: JSON.stringify({ method: 'POST', path: '/post', body: 'text=hello&token=…' }),
    });
  });

  it('that is answered first and lost then is a dead letter', async () => {
    await using routes = await routeLab((post) => async (request, response) => {
      await textOf(request);
      response.writeHead(200).end('ok');
      setTimeout(() => call(post, 'line', 'probe', {}), 1);
    });
    expect(await routes.ask('hello')).toBe(200);
    await vi.waitFor(() => expect(routes.lab.degraded()).toHaveLength(1), 60_000);
    expect(routes.lab.ends).toEqual([]);
    await routes.lab.clock.advance(10_000);
    await vi.waitFor(() => expect(routes.lab.ends).toHaveLength(1), 60_000);
  });

  it('that is answered before its code throws is a dead letter; one that is answered 500 for it is none', async () => {
    await using routes = await routeLab(() => async (request, response) => {
      const text = await textOf(request);
      if (text === 'hello') response.writeHead(200).end('ok');
      throw new Error('no line');
    });
    expect([await routes.ask('hello'), await routes.ask('again')]).toEqual([200, 500]);
    await vi.waitFor(() => expect(routes.lab.ends).toHaveLength(1), 60_000);
    expect(routes.lab.ends[0]?.reason).toContain('its own code: no line');
  });

  it('is answered as its plugin says if the message is handed over, or if the plugin has refused it', async () => {
    await using routes = await routeLab((post) => async (request, response) => {
      const text = await textOf(request);
      call(post, 'line', 'probe', {});
      if (text === 'hello') await post.bring(text);
      response.writeHead(text === 'hello' ? 200 : 401).end('');
    });
    expect([await routes.ask('hello'), await routes.ask('a stranger')]).toEqual([200, 401]);
    expect(routes.lab.ends.map(({ status }) => status)).toEqual(['answered']);
  });
});
