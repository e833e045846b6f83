import { afterEach, describe, expect, it, vi } from 'vitest';
import { loadLegacyPlugin } from '../../../../src/openclaw/index.js';
import { MessageWay } from '../../../../src/openclaw/plugin/way/message-way.js';
import { createTestKernel, virtualClock } from '../../../../src/testing/index.js';

afterEach(() => vi.restoreAllMocks());

/** The functions of an object, however deep, with their paths. */
function functionsOf(value: object, path: string): readonly (readonly [string, unknown])[] {
  return Object.keys(value).flatMap((key): readonly (readonly [string, unknown])[] => {
    const [at, one]: [string, unknown] = [`${path}.${key}`, Reflect.get(value, key)];
    if (typeof one === 'function') return [[at, one]];
    return typeof one === 'object' && one !== null ? functionsOf(one, at) : [];
  });
}

describe('the members of the api (event-pipeline §17.36)', () => {
  it.each(['2026.3', '2026.9'] as const)(
    'all tell of their failures in profile %s: each function is watched, or refuses by its name',
    (profile) => {
      const watched = new Set<unknown>();
      const { watch } = MessageWay.prototype;
      vi.spyOn(MessageWay.prototype, 'watch').mockImplementation(function (
        this: MessageWay,
        owner,
        members,
      ) {
        const all = watch.call(this, owner, members) as typeof members;
        for (const one of Object.values(all)) watched.add(one);
        return all;
      });
      let api: object = {};
      const plugin = loadLegacyPlugin((given: object) => void (api = given), {
        ...{ kernel: createTestKernel().kernel, pluginId: 'p', profile, unsupported: 'refuse' },
      });
      const later = ['session', 'lifecycle'].map((group) => [group, Reflect.get(api, group)]);
      const all = functionsOf({ ...api, ...Object.fromEntries(later) }, 'api');
      const others = all.filter(([, run]) => !watched.has(run)) as [string, () => unknown][]; // functions
      expect(all.length - others.length).toBeGreaterThan(80);
      for (const [path, run] of others) {
        const error = errorOf(run);
        expect([path, error]).toEqual([path, expect.stringContaining(path)]);
      }
      expect(plugin.error).toBeUndefined();
    },
  );

  it('give what they make as it is, if it is a promise or an object of a class', async () => {
    const parts = {
      ...{ extensionId: 'p', clock: virtualClock() },
      ...{ onTrouble: () => undefined, onFailure: () => undefined },
    };
    const made = new Map([['a', 1]]);
    const watched = new MessageWay(parts).watch('api.runtime', {
      createMap: () => made,
      openLater: async () => made,
    });
    expect(watched.createMap()).toBe(made);
    expect(await watched.openLater()).toBe(made);
  });
});

/** The error of a call. */
function errorOf(run: () => unknown): string {
  try {
    run();
    return 'none';
  } catch (error) {
    return String(error);
  }
}
