import { describe, expect, it } from 'vitest';
import type { HttpRoute } from '../../../src/host/index.js';
import { defineExtension, type Extension } from '../../../src/sdk/extension/index.js';
import { startTestHost, type TestHostOptions } from '../../../src/testing/index.js';
import { deferred } from '../../support/kernel-lab.js';

/** An extension that provides routes. */
function providing(id: string, ...routes: readonly HttpRoute[]): Extension {
  return defineExtension({
    id,
    setup: (api) => {
      for (const route of routes) api.provide('route', route);
    },
  });
}

const answering = (text: string, more: Partial<HttpRoute> = {}): HttpRoute => ({
  method: 'GET',
  path: '/page',
  handler: () => new Response(text),
  ...more,
});

async function hostWith(route: HttpRoute, options: TestHostOptions = {}) {
  const test = await startTestHost({ extensions: [providing('acme', route)], ...options });
  const ask = (path = route.path, given?: RequestInit) =>
    test.host.routes.answer(new Request(`http://localhost${path}`, given));
  return { ...test, test, ask };
}

describe('a route of an extension (extensions-that-act §9)', () => {
  it('answers the requests of its method and path, with its query and its body', async () => {
    const { test, ask } = await hostWith({
      method: 'POST',
      path: '/hooks/build',
      handler: async (request) => {
        const { searchParams } = new URL(request.url);
        const headers = { 'x-kind': request.headers.get('content-type') ?? '' };
        return new Response(`${searchParams.get('id')}: ${await request.text()}`, { headers });
      },
    });
    await using _test = test;
    const headers = { 'content-type': 'text/build' };
    const answer = await ask('/hooks/build?id=7', { method: 'POST', body: 'broken', headers });
    expect([answer.status, answer.headers.get('x-kind'), await answer.text()]).toEqual([
      ...[200, 'text/build', '7: broken'],
    ]);
  });

  it('leaves other paths and methods alone, and answers HEAD as GET without a body (extensions-that-act §9.1)', async () => {
    const { test, ask } = await hostWith(answering('hello', { path: '/page' }));
    await using _test = test;
    expect((await ask('/page/')).status).toBe(404);
    expect((await ask('/Page')).status).toBe(404);
    const wrong = await ask('/page', { method: 'DELETE' });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET']);
    const head = await ask('/page', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('that throws is answered with 500 and the id of the request, and no text of the error (extensions-that-act §9.5)', async () => {
    const error = new Error('the password is hunter2');
    const { test, ask } = await hostWith(
      answering('', {
        handler: () => {
          throw error;
        },
      }),
    );
    await using _test = test;
    const answer = await ask();
    const body = await answer.text();
    const requestId = answer.headers.get('x-request-id');
    expect(answer.status).toBe(500);
    expect(body).toContain(requestId);
    expect(body).not.toContain('hunter2');
    const [logged] = test.log.entries.filter(({ level }) => level === 'error');
    expect(logged).toMatchObject({
      message: 'a route failed',
      fields: { extensionId: 'acme', route: 'GET /page', requestId, error },
    });
  });

  it('that returns no Response is answered with 500', async () => {
    const { test, ask } = await hostWith(answering('', { handler: () => 'text' as never }));
    await using _test = test;
    expect((await ask()).status).toBe(500);
  });

  it('that takes too long is answered with 504, and its signal aborts (extensions-that-act §9.4)', async () => {
    let aborted = false;
    const { test, ask } = await hostWith(
      answering('', {
        timeoutMs: 5_000,
        handler: ({ signal }) =>
          new Promise(() => {
            signal.addEventListener('abort', () => {
              aborted = true;
            });
          }),
      }),
    );
    await using _test = test;
    const asked = ask();
    await test.clock.advance(5_000);
    expect([(await asked).status, aborted]).toEqual([504, true]);
  });

  it('that answers too late has its body cancelled, since nobody reads it (extensions-that-act §9.4)', async () => {
    const late = deferred();
    const cancelled = deferred();
    const body = new ReadableStream({ cancel: () => cancelled.resolve() });
    const handler = async () => {
      await late.promise;
      return new Response(body);
    };
    const { test, ask } = await hostWith(answering('', { handler }));
    await using _test = test;
    const asked = ask();
    await test.clock.advance(30_000);
    expect((await asked).status).toBe(504);
    late.resolve();
    await cancelled.promise;
  });

  it('whose body does not end is cut off when its time is up (extensions-that-act §9.4)', async () => {
    const endless = (): ReadableStream =>
      new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode('a part')) });
    const { test, ask } = await hostWith(answering('', { handler: () => new Response(endless()) }));
    await using _test = test;
    const reading = (await ask()).text();
    const cut = expect(reading).rejects.toThrow();
    await test.clock.advance(30_000);
    await cut;
    expect(test.log.entries).toContainEqual(
      expect.objectContaining({ level: 'warn', message: 'a route took too long' }),
    );
  });

  it('leaves no timer behind when its answer was read', async () => {
    const { test, ask } = await hostWith(answering('hello'));
    await using _test = test;
    const before = test.clock.pending;
    expect(await (await ask()).text()).toBe('hello');
    expect(test.clock.pending).toBe(before);
  });

  it('that gives the same Response twice is answered with 500 from the second time on, and the log says so (extensions-that-act §9.5)', async () => {
    const same = new Response('hello');
    const { test, ask } = await hostWith(answering('', { handler: () => same }));
    await using _test = test;
    expect(await (await ask()).text()).toBe('hello');
    const before = test.clock.pending;
    const second = await ask();
    expect([second.status, await second.text()]).toEqual([
      ...[500, expect.stringContaining(second.headers.get('x-request-id') ?? 'no id')],
    ]);
    expect(test.log.entries).toContainEqual(
      expect.objectContaining({ level: 'error', message: 'a route failed' }),
    );
    expect(test.clock.pending).toBe(before);
  });

  it('that gives a Response of no status is answered with 500 (extensions-that-act §9.5)', async () => {
    const { test, ask } = await hostWith(answering('', { handler: () => Response.error() }));
    await using _test = test;
    expect((await ask()).status).toBe(500);
  });

  it('whose body fails is told of in the log, and holds no place any more (extensions-that-act §9.5)', async () => {
    const error = new Error('the disk is gone');
    const body = () =>
      new ReadableStream({
        pull: (stream) => stream.error(error),
      });
    const { test, ask } = await hostWith(answering('', { handler: () => new Response(body()) }));
    await using _test = test;
    const before = test.clock.pending;
    await expect((await ask()).text()).rejects.toThrow();
    expect(test.log.entries).toContainEqual(
      expect.objectContaining({
        level: 'error',
        message: 'a route failed',
        fields: expect.objectContaining({ extensionId: 'acme', route: 'GET /page', error }),
      }),
    );
    expect(test.clock.pending).toBe(before);
  });

  it('whose body nobody wants to the end holds no place any more', async () => {
    const endless = () =>
      new ReadableStream({ pull: (stream) => stream.enqueue(Buffer.from('a')) });
    const { test, ask } = await hostWith(answering('', { handler: () => new Response(endless()) }));
    await using _test = test;
    const before = test.clock.pending;
    await (await ask()).body?.cancel();
    expect(test.clock.pending).toBe(before);
  });

  it('answers 64 requests at once, and no more', async () => {
    const gate = deferred();
    const handler = () => gate.promise.then(() => new Response('done'));
    const { test, ask } = await hostWith(answering('', { handler }));
    await using _test = test;
    const asked = Array.from({ length: 64 }, () => ask());
    expect((await ask()).status).toBe(503);
    gate.resolve();
    const answers = await Promise.all(asked);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await Promise.all(answers.map((one) => one.text()));
    expect((await ask()).status).toBe(200);
  });
});

describe('the routes of a host', () => {
  it.each<[Partial<HttpRoute>, string]>([
    [{ path: '/healthz' }, `"/healthz" is the host's own`],
    [{ path: '/readyz' }, `"/readyz" is the host's own`],
    [{ path: 'page' }, 'its path must begin with "/"'],
    [{ path: '/page?a=1' }, 'its path must begin with "/"'],
    [{ path: '/a/../b' }, 'its path must begin with "/"'],
    [{ method: 'get' as never }, 'its method must be one of GET, POST'],
    [{ handler: 'text' as never }, 'its handler is no function'],
    [{ maxBodyBytes: -1 }, 'its maxBodyBytes must be a whole number'],
    [{ timeoutMs: 0 }, 'its timeoutMs must be more than 0'],
  ])('are without one that cannot be: %j (extensions-that-act §9.2)', async (more, problem) => {
    const { test } = await hostWith(answering('hello', more));
    await using _test = test;
    expect(test.host.routes.list()).toEqual([]);
    expect(test.log.entries).toContainEqual(
      expect.objectContaining({
        level: 'error',
        message: 'a route is left out',
        fields: expect.objectContaining({
          extensionId: 'acme',
          problem: expect.stringContaining(problem),
        }),
      }),
    );
  });

  it('have a path of one extension alone, which may have several methods there (extensions-that-act §9.2)', async () => {
    const first = providing('first', answering('first'), answering('', { method: 'POST' }));
    const second = providing('second', answering('second', { method: 'PUT' }));
    await using test = await startTestHost({ extensions: [first, second] });
    expect(test.host.routes.list()).toEqual([
      { extensionId: 'first', method: 'GET', path: '/page', maxBodyBytes: 1_048_576 },
      { extensionId: 'first', method: 'POST', path: '/page', maxBodyBytes: 1_048_576 },
    ]);
    expect(test.log.entries).toContainEqual(
      expect.objectContaining({
        message: 'a route is left out',
        fields: {
          extensionId: 'second',
          route: 'PUT /page',
          problem: 'the extension "first" has that path',
        },
      }),
    );
  });

  it('need the grant `provide:route` if grants are held (extensions-that-act §1.3)', async () => {
    const acme = providing('acme', answering('hello'));
    await expect(startTestHost({ extensions: [acme], leastPrivilege: true })).rejects.toMatchObject(
      { code: 'not-granted' },
    );
    const grants = { acme: ['provide:route'] };
    await using test = await startTestHost({ extensions: [acme], leastPrivilege: true, grants });
    expect(test.host.routes.list()).toHaveLength(1);
  });

  it('are told of in the log if no port is open (extensions-that-act §9.6)', async () => {
    const { test } = await hostWith(answering('hello'));
    await using _test = test;
    const told = test.log.entries.filter(({ level }) => level === 'warn');
    expect(told).toMatchObject([
      {
        message: expect.stringContaining('no port of the host is open'),
        fields: { extensionId: 'acme', route: 'GET /page' },
      },
    ]);
  });

  it('answer nothing before the host runs and when it has stopped, and what was under way is stopped (extensions-that-act §9.7)', async () => {
    let seen: AbortSignal | undefined;
    const handler = ({ signal }: Request) => {
      seen = signal;
      return new Promise<Response>(() => undefined);
    };
    const { test, ask } = await hostWith(answering('', { handler }));
    const asked = ask();
    await test[Symbol.asyncDispose]();
    expect((await asked).status).toBe(503);
    expect(seen?.aborted).toBe(true);
    expect((await ask()).status).toBe(503);
  });
});

describe('a reload (extensions-that-act §9.7)', () => {
  /** A host whose only extension gives another answer each time that it is set up. */
  async function reloading(handler: (version: number) => HttpRoute['handler']) {
    let version = 0;
    const acme = defineExtension({
      id: 'acme',
      setup: (api) => {
        api.provide('route', answering('', { handler: handler(++version) }));
      },
    });
    const test = await startTestHost({ extensions: [acme] });
    const ask = () => test.host.routes.answer(new Request('http://localhost/page'));
    return { test, ask };
  }

  it('waits for a request that is under way; one that comes meanwhile is answered by the new version', async () => {
    const gate = deferred();
    const { test, ask } = await reloading((version) => async () => {
      if (version === 1) await gate.promise;
      return new Response(`version ${version}`);
    });
    await using _test = test;
    const first = ask();
    const reloaded = test.host.reload();
    await test.clock.advance(0);
    const second = ask();
    gate.resolve();
    expect(await (await first).text()).toBe('version 1');
    await reloaded;
    expect(await (await second).text()).toBe('version 2');
  });

  it('waits for the body of an answer that is under way, too', async () => {
    const gate = deferred();
    const { test, ask } = await reloading((version) => () => {
      const texts = async function* () {
        yield new TextEncoder().encode(`version ${version}`);
        if (version === 1) await gate.promise;
        yield new TextEncoder().encode(' to its end');
      };
      return new Response(ReadableStream.from(texts()) as ReadableStream<Uint8Array>);
    });
    await using _test = test;
    const answer = await ask();
    const reloaded = test.host.reload();
    const text = answer.text();
    await test.clock.advance(0);
    gate.resolve();
    expect(await text).toBe('version 1 to its end');
    await reloaded;
    expect(await (await ask()).text()).toBe('version 2 to its end');
  });

  it('waits no longer than a second for the body of an answer (extensions-that-act §9.7)', async () => {
    const { test, ask } = await reloading((version) => () => {
      const part = new TextEncoder().encode(`version ${version}`);
      const endless = new ReadableStream({ start: (stream) => stream.enqueue(part) });
      return new Response(version === 1 ? endless : part);
    });
    await using _test = test;
    const cut = expect((await ask()).text()).rejects.toThrow();
    let isReloaded = false;
    const reloaded = test.host.reload().then(() => {
      isReloaded = true;
    });
    await test.clock.advance(999);
    expect(isReloaded).toBe(false);
    await test.clock.advance(1);
    await reloaded;
    await cut;
    expect(await (await ask()).text()).toBe('version 2');
    expect(
      test.log.entries.filter(({ level }) => level === 'warn').map((one) => one.message),
    ).toEqual([
      'a route is provided, and no port of the host is open: nobody can ask',
      'a route is provided, and no port of the host is open: nobody can ask',
    ]);
  });

  it('stops a request that does not end in time, and goes on', async () => {
    let stopped = false;
    const { test, ask } = await reloading((version) => ({ signal }) => {
      if (version > 1) return new Response('version 2');
      signal.addEventListener('abort', () => {
        stopped = true;
      });
      return new Promise<Response>(() => undefined);
    });
    await using _test = test;
    const first = ask();
    const reloaded = test.host.reload();
    await test.clock.advance(10_000);
    await reloaded;
    expect([(await first).status, stopped]).toEqual([503, true]);
    expect(await (await ask()).text()).toBe('version 2');
  });

  it('takes a route away that the new version does not provide', async () => {
    let times = 0;
    const acme = defineExtension({
      id: 'acme',
      setup: (api) => {
        if (times++ === 0) api.provide('route', answering('hello'));
      },
    });
    await using test = await startTestHost({ extensions: [acme] });
    expect(test.host.routes.list()).toHaveLength(1);
    await test.host.reload();
    expect(test.host.routes.list()).toEqual([]);
    const answer = await test.host.routes.answer(new Request('http://localhost/page'));
    expect(answer.status).toBe(404);
  });
});
