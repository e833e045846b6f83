import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryKeyValues, openStore } from '../../../../src/sdk/extension/internal.js';
import { dryStore } from '../../../../src/sdk/extension/store/dry-store.js';
import { virtualClock } from '../../../../src/testing/index.js';

const key = fc.constantFrom('a', 'a/b', 'b', 'ab');
const step = fc.oneof(
  fc.record({ does: fc.constant('set' as const), key, value: fc.nat(3), ttl: fc.boolean() }),
  fc.record({ does: fc.constant('delete' as const), key }),
  fc.record({ does: fc.constant('update' as const), key }),
  fc.record({ does: fc.constant('get' as const), key }),
  fc.record({ does: fc.constant('wait' as const) }),
  fc.record({
    does: fc.constant('list' as const),
    prefix: fc.constantFrom('', 'a'),
    limit: fc.constantFrom(undefined, 1, 2),
    after: fc.option(key, { nil: undefined }),
  }),
);

/** A dry store, and a real one that begins with the same values. */
async function lab(kept: readonly string[]) {
  const clock = virtualClock();
  const now = () => clock.now();
  const real = openStore('acme', { values: memoryKeyValues(clock), now });
  const base = openStore('acme', { values: memoryKeyValues(clock), now });
  for (const name of kept)
    for (const store of [real, base]) await store.set(name, `kept ${name}`, { ttlMs: 5_000 });
  let writes = 0;
  const dry = dryStore('acme', { kept: () => base, clock, onWrite: () => void writes++ });
  return { clock, real, base, dry, writes: () => writes };
}

describe('a dry store (judgement §3.8)', () => {
  it('answers as a store in which its writes were done, and changes nothing of it (judgement §3.8)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(key),
        fc.array(step, { maxLength: 12 }),
        async (kept, steps) => {
          const { clock, real, base, dry } = await lab(kept);
          const before = await base.list();
          for (const one of steps) {
            if (one.does === 'wait') await clock.advance(1_000);
            const answers = [real, dry].map(async (store) => {
              if (one.does === 'set')
                return store.set(one.key, one.value, one.ttl ? { ttlMs: 1_500 } : {});
              if (one.does === 'delete') return store.delete(one.key);
              if (one.does === 'update')
                return store.update(one.key, (was) => `${String(was)} and more`);
              if (one.does === 'get') return store.get(one.key);
              if (one.does === 'wait') return undefined;
              const { prefix, limit, after } = one;
              return store.list(prefix, {
                ...(limit !== undefined && { limit }),
                ...(after !== undefined && { after }),
              });
            });
            const [done, answered] = await Promise.all(answers);
            expect(answered).toEqual(done);
          }
          const left = before.filter(({ expiresAtMs = 0 }) => expiresAtMs > clock.now());
          expect(await base.list()).toEqual(left);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('loses no update of those that run at once (judgement §3.8)', async () => {
    const { dry, writes } = await lab([]);
    const add = (was = 0) => was + 1;
    await Promise.all(Array.from({ length: 10 }, () => dry.update<number>('count', add)));
    expect(await dry.get('count')).toBe(10);
    expect(writes()).toBeGreaterThanOrEqual(10);
  });
});
