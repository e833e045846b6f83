import type { AsyncLocalStorage } from 'node:async_hooks';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { startHealthServer } from '../../../src/host/index.js';
import {
  type LegacyPlugin,
  type LegacyPluginOptions,
  loadLegacyPlugin,
} from '../../../src/openclaw/index.js';
import { collectingLogger, createTestKernel } from '../../../src/testing/index.js';
import { hostLab } from '../../support/host-lab.js';
import { deferred } from '../../support/kernel-lab.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;
interface Route {
  readonly path?: string;
  readonly auth?: string;
  readonly match?: string;
  readonly replaceExisting?: boolean;
  readonly handler?: Handler;
}
interface Api {
  registerHttpRoute(route: Route): void;
  registerHttpHandler(handler: Handler): void;
  registerService(service: object): void;
}

const says =
  (text: string): Handler =>
  (_, response) =>
    void response.end(text);

/** The part of OpenClaw's own code that `registerPluginHttpRoute` writes with. */
function openClawRegistry() {
  const key = Symbol.for('openclaw.pluginRegistryState');
  const process = globalThis as { [key]?: { registry: { httpRoutes: object[] } | null } };
  process[key] ??= { registry: null };
  process[key].registry ??= { httpRoutes: [] };
  return process[key];
}

function load(
  register: (api: Api) => void,
  options: Partial<LegacyPluginOptions> = {},
): LegacyPlugin {
  const { kernel } = createTestKernel();
  return loadLegacyPlugin(register, { kernel, pluginId: 'acme', routes: true, ...options });
}

/** A host with plugins at a port. */
async function port(
  plugins: Readonly<Record<string, (api: Api) => void>>,
  options: Partial<LegacyPluginOptions> = {},
) {
  const lab = await hostLab({
    loadPlugins: (kernel) =>
      Object.entries(plugins).map(([pluginId, register]) =>
        loadLegacyPlugin(register, { kernel, pluginId, routes: true, ...options }),
      ),
  });
  const server = await startHealthServer(lab.host, { port: 0 });
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${server.url}${path}`, init);
    return [answer.status, await answer.text()] as const;
  };
  return {
    ...{ lab, ask, url: server.url },
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await lab[Symbol.asyncDispose]();
    },
  };
}

/** Asks for a path as it is written, which `fetch` would fix. */
function askRaw(url: string, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest(`${url}/`, { path }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode));
    });
    asked.on('error', reject).end();
  });
}

const config = { gateway: { auth: { mode: 'token', token: 'the token' } } };
const bearer = { headers: { authorization: 'Bearer the token' } };

describe('registerHttpRoute', () => {
  it('takes each method of a path, asks the longest prefix first, and passes a request on that a handler leaves (extensions-that-act §9.9)', async () => {
    const echo: Handler = async (request, response) => {
      let body = '';
      for await (const part of request) body += String(part);
      response
        .setHeader('set-cookie', ['a=1', 'b=2'])
        .writeHead(201)
        .end(`${request.method} ${body}`);
    };
    await using at = await port({
      acme: (api) => {
        api.registerHttpRoute({ path: 'hook', auth: 'plugin', handler: echo });
        api.registerHttpRoute({ path: '/a', auth: 'plugin', match: 'prefix', handler: says('a') });
        api.registerHttpRoute({
          ...{ path: '/a/b', auth: 'plugin', match: 'prefix' },
          handler: ({ url }, response) => !url?.endsWith('leave') && void response.end('b'),
        });
      },
      other: (api) =>
        api.registerHttpHandler(
          ({ url }, response) => url === '/rest' && void response.end('rest'),
        ),
    });
    expect(await at.ask('/hook', { method: 'POST', body: 'tea' })).toEqual([201, 'POST tea']);
    expect(await at.ask('/hook?x=1', { method: 'PATCH' })).toEqual([201, 'PATCH ']);
    expect(await at.ask('/HOOK/')).toEqual([201, 'GET ']);
    expect(await at.ask('/a/b/c')).toEqual([200, 'b']);
    expect(await at.ask('/a/b/leave')).toEqual([200, 'a']);
    expect(await at.ask('/about')).toEqual([404, expect.stringContaining('Not Found')]);
    expect(await at.ask('/rest')).toEqual([200, 'rest']);
    expect((await at.ask('/healthz'))[0]).toBe(200);
    expect(at.lab.host.routes.list().map(({ method, path }) => `${method} ${path}`)).toEqual([
      ...['* /hook', '* /a', '* /a/b', '* /'],
    ]);
  });

  it('answers nobody without its switch, and the log says so', async () => {
    const logger = collectingLogger();
    const register = (api: Api): void =>
      api.registerHttpRoute({ path: '/hook', auth: 'plugin', handler: says('never') });
    await using at = await port({ acme: register }, { routes: false, logger });
    expect((await at.ask('/hook'))[0]).toBe(404);
    expect(logger.entries.map(({ message }) => message)).toContain(
      'acme: nobody is answered at /hook: "routes" of the plugin is not true',
    );
  });

  it('asks for the token of the gateway where auth is "gateway", below /api/channels, and for a path that is encoded oddly', async () => {
    const register = (api: Api): void => {
      api.registerHttpRoute({
        path: '/own',
        auth: 'gateway',
        match: 'prefix',
        handler: says('own'),
      });
      const slash = { path: '/api/channels/mattermost/command', handler: says('slash') };
      api.registerHttpRoute({ ...slash, auth: 'plugin' });
      api.registerHttpRoute({ path: '/api/channels/x', auth: 'plugin', handler: says('x') });
      api.registerHttpRoute({
        path: '/free',
        auth: 'plugin',
        match: 'prefix',
        handler: says('free'),
      });
    };
    await using at = await port({ acme: register }, { config });
    for (const path of [
      '/own',
      '/own/a',
      '/OWN',
      '/%6fwn',
      '/%256fwn',
      '/api/channels/x',
      '/free/%zz',
    ]) {
      expect((await at.ask(path))[0]).toBe(401);
      expect((await at.ask(path, { headers: { authorization: 'Bearer another' } }))[0]).toBe(401);
      expect([path, (await at.ask(path, bearer))[0]]).toEqual([path, 200]);
    }
    expect(await askRaw(at.url, '/free/../own')).toBe(401);
    expect(await at.ask('/free/a')).toEqual([200, 'free']);
    expect(await at.ask('/api/channels/mattermost/command')).toEqual([200, 'slash']);
    expect((await at.ask('/api/channels/mattermost/%63ommand'))[0]).toBe(401);
    await using closed = await port({ acme: register }); // no token is set: nobody has it
    expect((await closed.ask('/own', bearer))[0]).toBe(401);
    const open = { gateway: { auth: { mode: 'none' } } };
    await using none = await port({ acme: register }, { config: open });
    expect(await none.ask('/own')).toEqual([200, 'own']);
  });

  it('leaves out a route without a path, a handler or an auth, one that overlaps another auth, and one that is there', () => {
    const handler = says('');
    const plugin = load((api) => {
      api.registerHttpRoute({ path: ' ', auth: 'plugin', handler });
      api.registerHttpRoute({ path: '/a', auth: 'plugin' });
      api.registerHttpRoute({ path: '/a', handler });
      api.registerHttpRoute({ path: '/a', auth: 'plugin', match: 'prefix', handler });
      api.registerHttpRoute({ path: '/a/b', auth: 'gateway', handler });
      api.registerHttpRoute({ path: '/a', auth: 'plugin', match: 'prefix', handler: says('two') });
      api.registerHttpRoute({ path: '/A', auth: 'gateway', match: 'exact', handler });
    });
    expect(plugin.httpRoutes).toEqual([{ path: '/a', auth: 'plugin', match: 'prefix', handler }]);
    expect(plugin.diagnostics.map(({ message }) => message)).toEqual([
      'route "/" is left out: it has no path',
      'route "/a" is left out: it has no function "handler"',
      'route "/a" is left out: its auth is neither "gateway" nor "plugin"',
      'route "/a/b" is left out: it overlaps /a (prefix, plugin)',
      'route "/a" is left out: it is registered already',
      'route "/A" is left out: it overlaps /a (prefix, plugin)',
    ]);
  });

  it('leaves out what another plugin has, or what overlaps it with another auth, by whatever function it comes', async () => {
    const handler = says('acme');
    const logger = collectingLogger();
    const plugins: Parameters<typeof port>[0] = {
      acme: (api) => {
        api.registerHttpRoute({ path: '/a', auth: 'plugin', handler });
        api.registerHttpRoute({ path: '/p', auth: 'plugin', match: 'prefix', handler });
      },
      other: (api) => {
        api.registerHttpRoute({ path: '/a', auth: 'plugin', handler: says('other') });
        const again = { path: '/a', auth: 'plugin', replaceExisting: true };
        api.registerHttpRoute({ ...again, handler: says('other') });
        api.registerHttpRoute({ path: '/p/q', auth: 'gateway', handler: says('other') });
        api.registerHttpRoute({ path: '/p/r', auth: 'plugin', handler: says('other') });
        const own = { path: '/a', match: 'exact', auth: 'plugin', handler: says('other') };
        openClawRegistry().registry?.httpRoutes.push(own);
      },
    };
    await using at = await port(plugins, { logger });
    expect(at.lab.host.routes.list().map(({ path }) => path)).toEqual(['/a', '/p', '/p/r']);
    expect(await at.ask('/a')).toEqual([200, 'acme']);
    const messages = logger.entries.map(({ message }) => message);
    expect(messages.filter((message) => message.includes('left out'))).toEqual([
      'other: route "/a" is left out: it is registered already, by plugin "acme"',
      'other: route "/a" is left out: it is registered already, by plugin "acme"',
      'other: route "/p/q" is left out: it overlaps /p (prefix, plugin), by plugin "acme"',
      'other: route "/a" is left out: it is registered already, by plugin "acme"',
    ]);
  });

  it('puts a route in the place of another with replaceExisting', async () => {
    await using at = await port({
      acme: (api) => {
        api.registerHttpRoute({ path: '/a', auth: 'plugin', handler: says('one') });
        const second = { path: '/a', auth: 'plugin', handler: says('two') };
        api.registerHttpRoute({ ...second, replaceExisting: true });
      },
    });
    expect(await at.ask('/a')).toEqual([200, 'two']);
  });

  it('gives 500 for a handler that throws, and outlives one that throws or writes after its answer', async () => {
    const logger = collectingLogger();
    const late: ReturnType<typeof deferred>[] = [];
    const handlers: Record<string, Handler> = {
      '/throws': () => Promise.reject(new Error('a secret')),
      '/late': async (_, response) => {
        const waiting = deferred();
        late.push(waiting);
        response.end('done');
        await waiting.promise;
        response.write('more');
        throw new Error('too late');
      },
    };
    await using at = await port(
      {
        acme: (api) => {
          for (const [path, handler] of Object.entries(handlers))
            api.registerHttpRoute({ path, auth: 'plugin', handler });
        },
      },
      { logger },
    );
    const [status, text] = await at.ask('/throws');
    expect([status, text.includes('secret')]).toEqual([500, false]);
    expect(await at.ask('/late')).toEqual([200, 'done']);
    late[0]?.resolve(undefined);
    expect(await at.ask('/late')).toEqual([200, 'done']);
    expect(logger.entries.map(({ message }) => message)).toContain(
      'acme: a route failed after its answer',
    );
  });
});

describe('the routes that OpenClaw’s own functions register', () => {
  it('are those of the plugin whose code runs, and go as that code takes them back', async () => {
    const { registry } = openClawRegistry();
    const before = registry?.httpRoutes.length;
    const serve = (path: string) => () => {
      const routes = openClawRegistry().registry?.httpRoutes ?? [];
      const route = { path, match: 'exact', auth: 'plugin', handler: says(path) };
      routes.push(route);
      return () => routes.splice(routes.indexOf(route), 1);
    };
    let undo: () => unknown = () => undefined;
    await using at = await port({
      acme: (api) =>
        api.registerService({
          id: 'web',
          start: async () => {
            await Promise.resolve();
            undo = serve('/acme')();
          },
        }),
      other: serve('/other'),
    });
    expect(await at.ask('/acme')).toEqual([200, '/acme']);
    expect(at.lab.host.routes.at('/other')).toMatchObject([{ extensionId: 'other' }]);
    undo();
    expect((await at.ask('/acme'))[0]).toBe(404);
    expect(openClawRegistry().registry?.httpRoutes).toHaveLength(before ?? 0);
  });

  it('are found by the code of 2026.9, too, which takes its state and its place from the process as they are', async () => {
    const stateKey = Symbol.for('openclaw.pluginRegistryState');
    const scopeKey = Symbol.for('openclaw.pluginHttpRouteRegistryScope');
    const state = load(() => undefined) && Reflect.get(globalThis, stateKey);
    expect(state).toMatchObject({ activeRegistry: null, activeVersion: 0, workspaceDir: null });
    const scopes = Reflect.get(globalThis, scopeKey) as AsyncLocalStorage<{
      readonly leases: readonly unknown[];
      readonly registry: { readonly plugins: readonly unknown[]; readonly httpRoutes: object[] };
    }>; // made by the first plugin that was loaded
    const places: unknown[] = [];
    const serve = (path: string) => () => {
      const { registry, leases } = scopes.getStore() ?? {};
      places.push([registry?.plugins, leases]);
      const route = { path, match: 'exact', auth: 'plugin', handler: says(path) };
      registry?.httpRoutes.splice(registry.httpRoutes.length, 0, route);
    };
    const logger = collectingLogger();
    await using at = await port({ acme: serve('/acme9'), other: serve('/other9') }, { logger });
    expect(await at.ask('/acme9')).toEqual([200, '/acme9']);
    expect(at.lab.host.routes.at('/other9')).toMatchObject([{ extensionId: 'other' }]);
    expect(places).toEqual([...Array(2)].map(() => [[], []]));
    expect(scopes.getStore()).toBeUndefined();
    expect(logger.entries.map(({ fields }) => fields['path'])).toEqual(['/acme9', '/other9']);
  });

  it('are gone when their plugin is disposed', async () => {
    const plugin = load((api) =>
      api.registerHttpRoute({ path: '/a', auth: 'plugin', handler: says('a') }),
    );
    expect(plugin.httpRoutes).toHaveLength(1);
    await plugin.dispose();
    expect(plugin.httpRoutes).toEqual([]);
  });
});
