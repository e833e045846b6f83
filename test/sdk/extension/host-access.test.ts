import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { KernelOptions } from '../../../src/kernel/internal.js';
import {
  defineExtension,
  type ExtensionApi,
  ExtensionSet,
  type ExtensionStore,
  givenSource,
  loadExtension,
  type Question,
} from '../../../src/sdk/extension/index.js';
import { hostAccess } from '../../../src/sdk/extension/load/host-access.js';
import { createTestKernel } from '../../../src/testing/index.js';

/** An extension that hands its api out. */
function lab() {
  let api: ExtensionApi | undefined;
  const extension = defineExtension({
    id: 'acme',
    setup: (given) => {
      api = given;
    },
  });
  return {
    extension,
    get api(): ExtensionApi {
      if (api === undefined) throw new Error('setup has not run');
      return api;
    },
  };
}

/** A store that only says its name. */
const storeNamed = (name: string): ExtensionStore => ({
  get: async <T>() => name as T, // a name is all that it has
  set: async () => undefined,
  delete: async () => false,
  list: async () => [],
  update: async () => undefined,
});

function accessWith(options: Pick<KernelOptions, 'grants' | 'leastPrivilege'> = {}) {
  const { kernel } = createTestKernel(options);
  return hostAccess({
    kernel,
    extensionId: 'acme',
    requested: ['send:pigeon'],
    host: { storeOf: () => storeNamed('of the host') },
  });
}

describe('the port of a host (extensions-that-act §1)', () => {
  it('is not there for an extension of a kernel alone: its store is in memory, and the rest is refused (extensions-that-act §1.2)', async () => {
    const acme = lab();
    await loadExtension(createTestKernel().kernel, acme.extension);
    await acme.api.store.set('seen', 1);
    expect(await acme.api.store.get('seen')).toBe(1);
    expect(() => acme.api.stateDir).toThrow(
      expect.objectContaining({
        code: 'no-host',
        message: 'acme: api.stateDir needs a host, and there is none.',
      }),
    );
  });

  it('is looked up when it is used, so a host may come after setup, and go (extensions-that-act §1.1)', async () => {
    const acme = lab();
    await using set = new ExtensionSet(createTestKernel().kernel);
    await set.add(givenSource(acme.extension));
    const { store } = acme.api;
    expect(await store.get('name')).toBeUndefined();
    const served = set.serve({
      storeOf: (extensionId) => storeNamed(`of ${extensionId}`),
      stateDirOf: (extensionId) => `/state/${extensionId}`,
    });
    expect(await store.get('name')).toBe('of acme');
    expect(acme.api.stateDir).toBe('/state/acme');
    served[Symbol.dispose]();
    expect(await store.get('name')).toBeUndefined();
  });

  it('does not change the parts that a set was made with (extensions-that-act §1.1)', async () => {
    const acme = lab();
    await using set = new ExtensionSet(createTestKernel().kernel, {
      host: { storeOf: () => storeNamed('first') },
    });
    await set.add(givenSource(acme.extension));
    const served = set.serve({ storeOf: () => storeNamed('second') });
    expect(await acme.api.store.get('name')).toBe('first');
    served[Symbol.dispose]();
    expect(await acme.api.store.get('name')).toBe('first');
  });

  it('reads relative paths from the folder of the config, or else from the working folder (extensions-that-act §3.2)', async () => {
    const acme = lab();
    const { kernel } = createTestKernel();
    await loadExtension(kernel, acme.extension, { configDir: '/etc/sluice' });
    expect(acme.api.resolvePath('words.txt')).toBe(resolve('/etc/sluice/words.txt'));
    expect(acme.api.resolvePath('/words.txt')).toBe(resolve('/words.txt'));
    const other = lab();
    await loadExtension(createTestKernel().kernel, other.extension);
    expect(other.api.resolvePath('words.txt')).toBe(resolve('words.txt'));
  });
});

describe('the grants of acts (extensions-that-act §1.3)', () => {
  const act = (access: ReturnType<typeof accessWith>, ...grants: string[]) =>
    access.member('storeOf', 'api.act', grants);

  it('are checked before the host is asked, and the error names the line to write', () => {
    const access = accessWith({ leastPrivilege: true });
    expect(() => act(access, 'send:pigeon', 'schedule')).toThrow(
      expect.objectContaining({
        code: 'not-granted',
        message: 'acme is not granted send:pigeon, schedule. Its manifest asks for: send:pigeon.',
        hint: expect.stringContaining('"grants": { "acme": ["send:pigeon", "schedule"] }'),
      }),
    );
  });

  it.each([
    [{}, ['send:pigeon', 'schedule', 'inject']],
    [{ grants: { acme: ['agent.prompt.building:systemPrompt'] } }, ['send:pigeon', 'schedule']],
    [{ leastPrivilege: true, grants: { acme: ['send:*', 'inject'] } }, ['send:a:b', 'inject']],
    [{ grants: { acme: ['send:pigeon', 'veto:egress.*'] } }, ['send:pigeon']],
    [{ grants: { acme: ['tap'] } }, ['tap', 'schedule']],
  ])('with %j let %j pass', (options, grants) => {
    expect(() => act(accessWith(options), ...grants)).not.toThrow();
  });

  it.each([
    [{ grants: { acme: ['send:pigeon'] } }, 'send:console'],
    [{ grants: { acme: ['send:pigeon'] } }, 'schedule'],
    [{ grants: { acme: ['veto:egress.*'] } }, 'inject'],
    [{ leastPrivilege: true }, 'send:pigeon'],
    [{ grants: { acme: ['*:*'] }, leastPrivilege: true }, 'send:pigeon'],
    [{}, 'tap'],
    [{ grants: { acme: ['*:*', 'schedule', 'dispatch:*'] } }, 'tap'],
  ])('with %j stop %s', (options, grant) => {
    expect(() => act(accessWith(options), grant)).toThrow(/is not granted/);
  });

  it.each([
    ['shedule', /names no trusted field of a stage; did you mean "schedule"\?/],
    ['tpa', /"tpa" names no trusted field of a stage; did you mean "tap"\?/],
    ['provid:route', /names no trusted field of a stage; did you mean "provide:route"\?/],
    ['schedule:daily', /names no trusted field/],
    ['send:', /names no channel/],
    ['send:two words', /names no channel/],
  ])('that grant nothing are refused: %s', (grant, problem) => {
    expect(() => createTestKernel({ grants: { acme: [grant] } })).toThrow(
      expect.objectContaining({ code: 'bad-option', message: expect.stringMatching(problem) }),
    );
  });

  it.each(['send:telegram', 'send:*', 'schedule', 'inject', 'tap', 'provide:route'])(
    'may be asked for by a manifest: %s',
    (grant) => {
      const made = defineExtension({
        id: 'acme',
        manifest: { grants: [grant] },
        setup: () => undefined,
      });
      expect(made.manifest.grants).toEqual([grant]);
    },
  );
});

describe('an extension that is gone', () => {
  const acts: readonly [string, (api: ExtensionApi, ask: Question<undefined>) => unknown][] = [
    ['api.send', (api) => api.send({ channel: 'pigeon', to: 'loft', content: 'coo' })],
    ['api.inject', (api) => api.inject('main', 'coo')],
    ['the question "fly"', (_, ask) => ask.ask({ channel: 'pigeon', to: 'loft' }, 'Fly?')],
  ];

  /** An extension that hands its api out, and acts once more while it is undone. */
  const begin = async (setup: () => void = () => undefined) => {
    const done: string[] = [];
    const host = {
      send: async () => {
        done.push('send');
        return { sendId: 's', ended: new Promise<never>(() => undefined) };
      },
      inject: async () => void done.push('inject'),
      ask: async () => {
        done.push('ask');
        return { id: 'q', sendId: 's' };
      },
    };
    let given: { api: ExtensionApi; ask: Question<undefined> } | undefined;
    const extension = defineExtension({
      id: 'acme',
      setup: (api) => {
        given = { api, ask: api.question('fly', () => undefined) };
        api.own('last words', async () => {
          await api.inject('main', 'goodbye');
        });
        setup();
      },
    });
    const result = await loadExtension(createTestKernel().kernel, extension, { host });
    if (given === undefined) throw new Error('setup has not run');
    return { ...given, done, result };
  };

  it.each(acts)('is refused %s (extensions-that-act §1.5)', async (what, act) => {
    const { api, ask, done, result } = await begin();
    await act(api, ask);
    expect(done).toHaveLength(1);
    if (result.status !== 'loaded') throw result.error;
    await result.dispose();
    expect(done.slice(1)).toEqual(['inject']); // its last words
    await expect(act(api, ask)).rejects.toMatchObject({
      code: 'extension-gone',
      details: { extensionId: 'acme', what },
    });
    expect(done).toHaveLength(2);
  });

  it.each(acts)('is refused %s if its setup failed (extensions-that-act §1.5)', async (_, act) => {
    const { api, ask } = await begin(() => {
      throw new Error('no key');
    });
    await expect(act(api, ask)).rejects.toMatchObject({ code: 'extension-gone' });
  });
});
