import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileFunction, constants } from 'node:vm';
import { afterAll, describe, expect, it } from 'vitest';
import {
  defineExtension,
  type Extension,
  ExtensionSet,
  type ExtensionSource,
  givenSource,
  loadExtension,
  loadExtensionModule,
} from '../../src/sdk/extension/index.js';
import { createTestKernel, samplePayload } from '../../src/testing/index.js';

const egress = () => ({ ...samplePayload('egress.preparing'), explicit: true, content: 'hi' });

/** A source whose extension a test changes between two reloads. */
function changing(first: Extension): ExtensionSource & { next: Extension | Error } {
  const source = {
    name: first.id,
    next: first as Extension | Error,
    load: async () => {
      if (source.next instanceof Error) throw source.next;
      return source.next;
    },
  };
  return source;
}

/** A version of one extension, which signs with its name and writes down what happens to it. */
function version(name: string, events: string[], fail?: 'setup' | 'dispose'): Extension {
  return defineExtension({
    id: 'acme',
    setup(api) {
      events.push(`${name} set up`);
      api.own('server', async () => {
        await Promise.resolve();
        if (fail === 'dispose') throw new Error('the port is stuck');
        events.push(`${name} disposed`);
      });
      if (fail === 'setup') throw new Error('no licence');
      api.mutate('egress.preparing', 'sign', ({ payload }) => ({
        content: `${payload.content} ${name}`,
      }));
    },
  });
}

async function lab(first: Extension) {
  const test = createTestKernel();
  const extensions = new ExtensionSet(test.kernel, { logger: test.log, clock: test.clock });
  const source = changing(first);
  await extensions.add(source);
  const said = async () =>
    (await test.kernel.dispatch('egress.preparing', egress())).payload.content;
  return { ...test, extensions, source, said };
}

describe('fault 29: an unload while handlers run (§13.8)', () => {
  it('waits for them, then undoes what they use', async () => {
    const { kernel, clock } = createTestKernel();
    const order: string[] = [];
    let settle: () => void = () => undefined;
    const extension = defineExtension({
      id: 'acme',
      setup(api) {
        api.own('database', () => order.push('database closed'));
        api.mutate('egress.preparing', 'slow', async () => {
          await new Promise<void>((resolve) => (settle = resolve));
          order.push('handler done');
        });
      },
    });
    const loaded = await loadExtension(kernel, extension, { clock });
    if (loaded.status === 'disabled') throw loaded.error;
    const dispatched = kernel.dispatch('egress.preparing', egress());
    const disposed = loaded.dispose();
    expect(kernel.plan('egress.preparing')).toEqual([]);
    settle();
    await dispatched;
    expect(await disposed).toMatchObject({ abandoned: [], failures: [] });
    expect(order).toEqual(['handler done', 'database closed']);
  });

  it('leaves behind what has not ended in time, and names it', async () => {
    const { kernel, clock, log } = createTestKernel();
    const extension = defineExtension({
      id: 'acme',
      setup: (api) =>
        api.mutate('egress.preparing', 'hangs', () => new Promise<undefined>(() => undefined)),
    });
    const loaded = await loadExtension(kernel, extension, {
      clock,
      logger: log,
      drainTimeoutMs: 300,
    });
    if (loaded.status === 'disabled') throw loaded.error;
    void kernel.dispatch('egress.preparing', egress());
    const disposed = loaded.dispose();
    await clock.advance(300);
    expect(await disposed).toMatchObject({
      abandoned: [{ extensionId: 'acme', contributionId: 'hangs', family: 'egress.preparing' }],
    });
    expect(log.messages('warn')).toContain(
      'acme/hangs on "egress.preparing" had not ended and is left behind',
    );
  });

  it('gives an undo that does not end up, names it, and undoes the next', async () => {
    const { kernel, clock } = createTestKernel();
    const undone: string[] = [];
    const extension = defineExtension({
      id: 'acme',
      setup(api) {
        api.own('first', () => undone.push('first'));
        api.own('hangs', () => new Promise(() => undefined));
      },
    });
    const loaded = await loadExtension(kernel, extension, { clock, undoTimeoutMs: 200 });
    if (loaded.status === 'disabled') throw loaded.error;
    const disposed = loaded.dispose();
    await clock.advance(200);
    expect((await disposed).failures).toMatchObject([
      { label: 'hangs', error: { message: 'it did not end within 200 ms' } },
    ]);
    expect(undone).toEqual(['first']);
  });
});

describe('fault 29: a reload (§13.9)', () => {
  it('starts the successor when the one before is undone, and swaps in one step', async () => {
    const events: string[] = [];
    const { extensions, source, said, kernel } = await lab(version('one', events));
    expect(await said()).toBe('hi one');
    source.next = version('two', events);
    expect(await extensions.reload('acme')).toMatchObject([{ result: 'reloaded' }]);
    expect(events).toEqual(['one set up', 'one disposed', 'two set up']);
    expect(await said()).toBe('hi two');
    expect(kernel.stats().contributions).toBe(1);
    expect(extensions.statuses).toMatchObject([{ status: 'loaded', reloads: 1 }]);
  });

  it('leaves no moment without the one or the other, nor with both', async () => {
    const events: string[] = [];
    const { extensions, source, said } = await lab(version('one', events));
    source.next = defineExtension({
      id: 'acme',
      async setup(api) {
        events.push(await said());
        api.mutate('egress.preparing', 'sign', ({ payload }) => ({
          content: `${payload.content} two`,
        }));
        await Promise.resolve();
        events.push(await said());
      },
    });
    await extensions.reload();
    expect(events.slice(2)).toEqual(['hi one', 'hi one']);
    expect(await said()).toBe('hi two');
  });

  it.each([
    ['cannot be imported', (): Error => new Error('a bracket is missing'), 'module-failed', []],
    [
      'fails in setup',
      (events: string[]) => version('two', events, 'setup'),
      'setup-failed',
      ['one disposed', 'two set up', 'two disposed', 'one set up'],
    ],
    [
      'is refused by the kernel',
      () =>
        defineExtension({
          id: 'acme',
          setup: (api) => {
            api.observe('egress.sent', 'twice', () => undefined);
            api.observe('egress.failed', 'twice', () => undefined);
          },
        }),
      'duplicate-contribution',
      ['one disposed', 'one set up'],
    ],
    [
      'has another id',
      () => defineExtension({ id: 'other', setup: () => undefined }),
      'bad-extension',
      [],
    ],
  ])('of a version that %s keeps the one before, and says why', async (_, next, code, happened) => {
    const events: string[] = [];
    const { extensions, source, said, kernel } = await lab(version('one', events));
    events.length = 0;
    source.next = next(events);
    expect(await extensions.reload('acme')).toMatchObject([{ result: 'kept', error: { code } }]);
    expect(events).toEqual(happened);
    expect(await said()).toBe('hi one');
    expect(kernel.stats().contributions).toBe(1);
    expect(extensions.statuses).toMatchObject([
      { status: 'loaded', lastReload: { result: 'kept', error: { code } } },
    ]);
    source.next = version('three', events);
    await extensions.reload('acme');
    expect(await said()).toBe('hi three');
  });

  it('fences an extension off whose undo throws: no successor starts, and the others run', async () => {
    const events: string[] = [];
    const { extensions, source, said } = await lab(version('one', events, 'dispose'));
    await extensions.add(givenSource(defineExtension({ id: 'other', setup: () => undefined })));
    source.next = version('two', events);
    for (let i = 0; i < 2; i++)
      expect(await extensions.reload('acme')).toMatchObject([
        { result: 'disabled', error: { code: 'not-undone' } },
      ]);
    expect(events).toEqual(['one set up']);
    expect(await said()).toBe('hi');
    expect(extensions.statuses).toMatchObject([
      {
        status: 'disabled',
        undoFailures: [{ label: 'server', error: { message: 'the port is stuck' } }],
      },
      { status: 'loaded' },
    ]);
  });

  it('fences an extension off whose new setup fails and leaves something behind (§13.9)', async () => {
    const events: string[] = [];
    const { extensions, source, said } = await lab(version('one', events));
    source.next = defineExtension({
      id: 'acme',
      setup(api) {
        api.own('socket', () => {
          throw new Error('it is still open');
        });
        throw new Error('no port is free');
      },
    });
    for (let i = 0; i < 2; i++)
      expect(await extensions.reload('acme')).toMatchObject([
        { result: 'disabled', error: { code: 'not-undone' } },
      ]);
    expect(events.filter((event) => event.endsWith('set up'))).toEqual(['one set up']);
    expect(await said()).toBe('hi');
  });

  it('brings an extension to life that could not be loaded before', async () => {
    const events: string[] = [];
    const { extensions, source, said } = await lab(version('one', events, 'setup'));
    expect(extensions.statuses).toMatchObject([
      { extensionId: 'acme', status: 'disabled', error: { code: 'setup-failed' } },
    ]);
    source.next = version('two', events);
    expect(await extensions.reload()).toMatchObject([{ result: 'reloaded' }]);
    expect(await said()).toBe('hi two');
  });

  it('of an extension that is not there is refused', async () => {
    const { extensions } = await lab(version('one', []));
    await expect(extensions.reload('acne')).rejects.toMatchObject({ code: 'unknown-extension' });
    await extensions.unload('acme');
    await expect(extensions.reload('acme')).rejects.toMatchObject({ code: 'unknown-extension' });
    expect(extensions.statuses).toMatchObject([{ status: 'unloaded' }]);
  });
});

/** Node's own `import()`: the one in this file is the test runner's. */
const importModule = compileFunction('return import(specifier)', ['specifier'], {
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
}) as (specifier: string) => Promise<unknown>;

const from = mkdtempSync(join(tmpdir(), 'sluice-broken-'));
afterAll(() => rmSync(from, { recursive: true }));

describe('fault 30: an extension that cannot be loaded is disabled alone', () => {
  const plain =
    "export default { kind: 'sluice-extension', id: 'acme', config: undefined, setup() {} };";
  it.each([
    ['its import throws', "throw new Error('no');", 'module-failed'],
    ['its default export is missing', 'export const other = 1;', 'no-extension'],
    [
      'its manifest is invalid',
      plain.replace('config:', "manifest: { sluice: 'newest' }, config:"),
      'no-extension',
    ],
    [
      'it imports itself in a circle',
      `import { later } from './circle.mjs';\nexport const now = later;\n${plain}`,
      'module-failed',
    ],
    ['its id is taken', plain.replace('acme', 'fine'), 'duplicate-extension'],
  ])('where %s', async (_, text, code) => {
    const { kernel } = createTestKernel();
    await using extensions = new ExtensionSet(kernel);
    const file = join(from, `${code}-${text.length}.mjs`);
    writeFileSync(file, text);
    writeFileSync(
      join(from, 'circle.mjs'),
      `import { now } from '${file}';\nexport const later = now;`,
    );
    const load = () => loadExtensionModule(file, { importModule });
    await extensions.add(givenSource(defineExtension({ id: 'fine', setup: () => undefined })));
    await extensions.add({ name: file, load });
    await extensions.add(givenSource(defineExtension({ id: 'last', setup: () => undefined })));
    expect(extensions.statuses.map(({ status }) => status)).toEqual([
      'loaded',
      'disabled',
      'loaded',
    ]);
    expect(extensions.statuses[1]?.error?.code).toBe(code);
  });
});
