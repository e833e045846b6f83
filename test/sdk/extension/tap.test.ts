import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { createHost } from '../../../src/host/index.js';
import { cancel, createKernel } from '../../../src/kernel/internal.js';
import {
  defineExtension,
  type ExtensionApi,
  ExtensionSet,
  type ExtensionTap,
  givenSource,
  HandlerWatch,
  loadExtension,
  type TapListeners,
} from '../../../src/sdk/extension/index.js';
import {
  collectingLogger,
  createTestKernel,
  fakeChannel,
  loadForTest,
  samplePayload,
  startTestHost,
} from '../../../src/testing/index.js';

const grants = { acme: ['tap'] };

/** An extension that taps, and hands its tap and its api out. */
function tapping(listeners?: TapListeners) {
  const made: { tap?: ExtensionTap; api?: ExtensionApi } = {};
  const extension = defineExtension({
    id: 'acme',
    setup(api) {
      made.api = api;
      made.tap = api.tap(listeners);
    },
  });
  return { extension, made };
}

describe('api.tap (extensions-that-act §8)', () => {
  it('always needs its grant, also where nothing is granted at all (extensions-that-act §1.3)', async () => {
    const { extension } = tapping();
    await expect(loadForTest(extension)).rejects.toMatchObject({
      code: 'not-granted',
      message: expect.stringContaining('acme is not granted tap'),
    });
  });

  it('hears facts and failures of others from when setup has ended, until the extension is unloaded (extensions-that-act §8.1)', async () => {
    const heard: string[] = [];
    const { extension } = tapping({
      fact: (entry) => {
        if (entry.kind !== 'dispatch') return;
        const { event, status, steps } = entry.outcome;
        heard.push(`${event.family} ${status} ${steps.map(({ result }) => result)}`);
      },
      failure: ({ extensionId, kind }, { family }) =>
        void heard.push(`${family} ${extensionId} ${kind}`),
    });
    const test = await loadForTest(extension, { grants });
    test.kernel.contribute({
      family: 'egress.sent',
      class: 'observer',
      extensionId: 'other',
      id: 'breaks',
      handler: () => {
        throw new Error('broken');
      },
    });
    await test.dispatch('egress.sent');
    expect(heard).toEqual(['egress.sent other threw', 'egress.sent passed failed']);
    expect(test.labels()).toEqual(['tap']);
    await test.dispose();
    await test.dispatch('egress.sent');
    expect(heard).toHaveLength(2);
  });

  it('that throws is logged against its extension, and changes nothing (extensions-that-act §8.2)', async () => {
    const { extension } = tapping({
      fact: () => {
        throw new Error('my listener is broken');
      },
    });
    await using test = await loadForTest(extension, { grants });
    expect((await test.dispatch('egress.preparing', { explicit: true })).status).toBe('passed');
    expect(test.log.entries).toContainEqual(
      expect.objectContaining({
        level: 'error',
        message: 'a listener of the timelines failed',
        fields: expect.objectContaining({ extensionId: 'acme' }),
      }),
    );
  });

  it('is refused once setup has ended', async () => {
    const { extension, made } = tapping();
    await using _test = await loadForTest(extension, { grants });
    expect(() => made.api?.tap({})).toThrow(
      expect.objectContaining({
        code: 'setup-ended',
        message: expect.stringMatching(/^acme: api\.tap came after setup/),
      }),
    );
  });

  it('is gone with a setup that failed', async () => {
    const { kernel } = createTestKernel({ grants });
    const heard: string[] = [];
    const extension = defineExtension({
      id: 'acme',
      setup(api) {
        api.tap({ fact: ({ kind }) => void heard.push(kind) });
        throw new Error('no');
      },
    });
    expect(await loadExtension(kernel, extension)).toMatchObject({ status: 'disabled' });
    await kernel.dispatch('gateway.starting', {});
    expect(heard).toEqual([]);
  });
});

describe('the figures of a tap (extensions-that-act §8.4)', () => {
  it('tell what the host has done and has before it', async () => {
    const { extension, made } = tapping();
    const test = await startTestHost({ extensions: [extension], grants });
    await test.say('hello');
    expect(await made.tap?.figures()).toMatchObject({
      stats: { received: 1, dropped: 0, sends: { sent: 1, cancelled: 0, failed: 0 } },
      health: { state: 'running', kernel: { failed: 0, quarantined: [] } },
      journal: {
        updates: { accepted: 0, handling: 0, dead: 0 },
        sends: { prepared: 0, sending: 0 },
      },
    });
    await test[Symbol.asyncDispose]();
    await expect(made.tap?.figures()).rejects.toMatchObject({ code: 'no-host' });
  });

  it('count a send that was cancelled, and a message that is being answered', async () => {
    const { extension, made } = tapping();
    const seen: unknown[] = [];
    const guard = defineExtension({
      id: 'guard',
      setup: (api) =>
        api.veto('egress.preparing', 'shut', async () => {
          seen.push(await made.tap?.figures());
          return cancel('policy');
        }),
    });
    await using test = await startTestHost({ extensions: [extension, guard], grants });
    await test.say('hello');
    expect(seen).toMatchObject([
      { stats: { conversations: 1, running: 1 }, journal: { updates: { handling: 1 } } },
    ]);
    expect(await made.tap?.figures()).toMatchObject({ stats: { sends: { cancelled: 1 } } });
  });

  it('are those of an idle host for an extension under test', async () => {
    const { extension, made } = tapping();
    await using test = await loadForTest(extension, { grants });
    await test.dispatch('egress.sent');
    expect(await made.tap?.figures()).toMatchObject({
      stats: { received: 0 },
      health: { kernel: { dispatches: 1 } },
      journal: { updates: { dead: 0 } },
    });
  });

  it('need a host', async () => {
    const { extension, made } = tapping();
    await loadExtension(createTestKernel({ grants }).kernel, extension);
    await expect(made.tap?.figures()).rejects.toMatchObject({ code: 'no-host' });
  });
});

describe('the facts of a tap (extensions-that-act §8.1)', () => {
  it('are those of a whole message in a host, in the order of the way (sight §1.2)', async () => {
    const heard: string[] = [];
    const { extension } = tapping({
      fact: (entry) =>
        void heard.push('state' in entry ? `${entry.kind} ${entry.state}` : entry.kind),
    });
    await using test = await startTestHost({ extensions: [extension], grants });
    await test.say('hello');
    const isNoDispatch = (one: string): boolean => one !== 'dispatch';
    expect(heard.filter(isNoDispatch)).toEqual([
      ...['update accepted', 'update begun', 'lane', 'lane'],
      ...['send sending', 'attempt', 'send sent', 'update ended'],
    ]);
    expect(heard.indexOf('dispatch')).toBeLessThan(heard.indexOf('send sending'));
  });
});

describe('the layer of a tap (extensions-that-act §8.5)', () => {
  it('runs around each handler of a watched kernel and around each route, and is gone with its extension', async () => {
    const heard: string[] = [];
    const { extension } = tapping({
      around: (run, { extensionId, event, request }) => {
        heard.push(`${extensionId} ${event?.family ?? request?.method}`);
        return run();
      },
    });
    const web = defineExtension({
      id: 'web',
      setup(api) {
        api.mutate('egress.preparing', 'loud', ({ payload }) => ({
          content: payload.content.toUpperCase(),
        }));
        const handler = () => new Response('here');
        api.provide('route', { method: 'GET', path: '/here', handler });
      },
    });
    using watch = new HandlerWatch({ logger: collectingLogger(), attributeRejections: false });
    const kernel = createKernel({ grants, instrument: watch.instrument });
    watch.watch(kernel);
    await using set = new ExtensionSet(kernel);
    await set.add(givenSource(extension));
    await set.add(givenSource(web));
    const sample = samplePayload('egress.preparing');
    const preparing = { ...sample, explicit: true, content: 'hello' };
    expect(await kernel.dispatch('egress.preparing', preparing)).toMatchObject({
      payload: { content: 'HELLO' },
    });
    const host = createHost({
      ...{ kernel, extensions: set, channels: [fakeChannel()] },
      agents: [{ id: 'main', provider: echoProvider() }],
    });
    await host.start();
    await host.routes.answer(new Request('http://localhost/here'));
    expect(heard).toEqual(['web egress.preparing', 'web GET']);
    await set.unload('acme');
    await kernel.dispatch('egress.preparing', preparing);
    expect(heard).toHaveLength(2);
    await host.stop();
  });
});
