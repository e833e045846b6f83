import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ExtensionStore } from '../../../../src/sdk/extension/index.js';
import type { KeyValues } from '../../../../src/sdk/extension/store/key-values.js';
import { openStore } from '../../../../src/sdk/extension/store/open-store.js';
import { type VirtualClock, virtualClock } from '../../../../src/testing/index.js';

/** Key values under test, with handles to the same values as other processes have them. */
export interface KeyValuesLab extends AsyncDisposable {
  /** Handles to one set of values; the first is the host's. */
  readonly handles: readonly KeyValues[];
}

const smallQuota = { maxKeys: 3, maxBytes: 200 };
const wideQuota = { maxKeys: 10_000, maxBytes: 1_000_000 };

/** The laws of key values and of the stores on them, for each way to keep them (extensions-that-act §2). */
export function keyValuesContract(make: (clock: VirtualClock) => Promise<KeyValuesLab>): void {
  const within = async (
    run: (given: {
      readonly store: ExtensionStore;
      readonly storeOf: (extensionId: string, handle?: number) => ExtensionStore;
      readonly values: KeyValues;
      readonly clock: VirtualClock;
    }) => Promise<void>,
    quota = wideQuota,
  ): Promise<void> => {
    const clock = virtualClock();
    await using lab = await make(clock);
    const values = (handle: number): KeyValues => {
      const found = lab.handles[handle % lab.handles.length];
      if (found === undefined) throw new Error('the lab has no handle');
      return found;
    };
    const storeOf = (extensionId: string, handle = 0) =>
      openStore(extensionId, { values: values(handle), now: () => clock.now(), quota });
    await run({ store: storeOf('acme'), storeOf, values: values(0), clock });
  };

  describe('values (extensions-that-act §2.1, extensions-that-act §2.2)', () => {
    it('come back as they were kept, as copies', () =>
      within(async ({ store }) => {
        const value = { text: 'a\u0000b 😀', list: [1, null, true, { deep: [] }], none: undefined };
        await store.set('one', value);
        const read = await store.get('one');
        expect(read).toEqual({ text: 'a\u0000b 😀', list: [1, null, true, { deep: [] }] });
        (read as { list: unknown[] }).list.push('changed');
        expect(await store.get('one')).not.toEqual(read);
        expect(await store.get('two')).toBeUndefined();
      }));

    it('belong to one extension each', () =>
      within(async ({ storeOf }) => {
        await storeOf('acme').set('key', 'of acme');
        await storeOf('other').set('key', 'of other');
        expect(await storeOf('acme').delete('key')).toBe(true);
        expect(await storeOf('other').get('key')).toBe('of other');
        expect(await storeOf('acme').list()).toEqual([]);
      }));

    it('are deleted, and a delete says if there was one', () =>
      within(async ({ store }) => {
        await store.set('one', 1);
        expect(await store.delete('one')).toBe(true);
        expect(await store.delete('one')).toBe(false);
        expect(await store.get('one')).toBeUndefined();
      }));

    it('are replaced and deleted by who expects their body, and by nobody else', () =>
      within(async ({ values }) => {
        const write = (body: string | undefined, expected: string) =>
          values.write('acme', 'key', body === undefined ? undefined : { body }, {
            ...{
              expected: { body: expected },
              quota: wideQuota,
            },
          });
        expect(await write('"new"', '"old"')).toEqual({ status: 'conflict' });
        await values.write('acme', 'key', { body: '"old"' }, { quota: wideQuota });
        expect(await write('"new"', '"older"')).toEqual({ status: 'conflict' });
        const both = await Promise.all([write('"new"', '"old"'), write(undefined, '"old"')]);
        expect(both).toEqual([{ status: 'written' }, { status: 'conflict' }]);
        expect(await write(undefined, '"new"')).toEqual({ status: 'written' });
        expect(await values.get('acme', 'key')).toBeUndefined();
      }));

    it('are cleared together, of one extension', () =>
      within(async ({ store, storeOf, values }) => {
        for (const key of ['a', 'b']) await store.set(key, 1, { ttlMs: 5 });
        await storeOf('other').set('a', 1);
        expect(await values.clear('acme')).toBe(2);
        expect(await values.clear('acme')).toBe(0);
        expect(await store.list()).toEqual([]);
        expect(await values.namespaces()).toEqual([{ namespace: 'other', keys: 1, bytes: 2 }]);
      }));

    it('are not written when the right to write has ended', () =>
      within(async ({ values }) => {
        const signal = AbortSignal.abort(new Error('another host has it'));
        const written = values.write('acme', 'one', { body: '1' }, { signal });
        await expect(written).rejects.toThrow('another host has it');
        expect(await values.get('acme', 'one')).toBeUndefined();
      }));

    it('are listed by prefix, in the order of code points, in parts', () =>
      within(async ({ store }) => {
        for (const key of ['b', 'a/2', 'a/10', 'a', 'a/\u{ff5e}', 'a/\u{1f600}', 'a0'])
          await store.set(key, key);
        const keys = async (...given: Parameters<ExtensionStore['list']>) =>
          (await store.list(...given)).map(({ key }) => key);
        expect(await keys('a/')).toEqual(['a/10', 'a/2', 'a/\u{ff5e}', 'a/\u{1f600}']);
        expect(await keys('a/', { limit: 2 })).toEqual(['a/10', 'a/2']);
        expect(await keys('a/', { limit: 2, after: 'a/2' })).toEqual(['a/\u{ff5e}', 'a/\u{1f600}']);
        expect(await keys()).toHaveLength(7);
        expect(await store.list('b')).toEqual([{ key: 'b', value: 'b' }]);
      }));

    it.each([
      ['a date', { at: [new Date(0)] }, 'value.at[0]', /an instance of Date/],
      ['a number that JSON lacks', { 'a b': Number.NaN }, 'value["a b"]', /NaN/],
      ['a function', () => 1, 'value', /a function/],
      ['undefined in a list', [undefined], 'value[0]', /undefined/],
      ['a big integer', { n: 1n }, 'value.n', /a bigint/],
      ['a list with a field', [Object.assign([1], { more: 2 })], 'value[0]', /a field "more"/],
      [
        'a toJSON that nobody lists',
        Object.defineProperty({}, 'toJSON', { value: () => undefined }),
        'value.toJSON',
        /written as something else/,
      ],
    ])('that are no plain JSON are refused with their path: %s', (_, value, path, problem) =>
      within(async ({ store }) => {
        await expect(store.set('key', value as never)).rejects.toMatchObject({
          code: 'not-storable',
          details: { path, problem: expect.stringMatching(problem) },
        });
        expect(await store.get('key')).toBeUndefined();
      }),
    );

    it('that hold themselves are refused', () =>
      within(async ({ store }) => {
        const loop: { self?: unknown } = {};
        loop.self = loop;
        await expect(store.set('key', loop as never)).rejects.toMatchObject({
          code: 'not-storable',
        });
      }));

    it.each(['a\u0000', '\ud83d'])('need a prefix that is of a key: %j', (part) =>
      within(async ({ store }) => {
        for (const wrong of [store.list(part), store.list('', { after: part })])
          await expect(wrong).rejects.toMatchObject({ code: 'bad-store-key' });
      }),
    );

    it.each(['', 'a\u0000', 'line\nbreak', 'x'.repeat(513), '\ud800'])(
      'need a key that is one: %j',
      (key) =>
        within(async ({ store }) => {
          for (const wrong of [
            store.get(key),
            store.set(key, 1),
            store.delete(key),
            store.update(key, () => 1),
          ])
            await expect(wrong).rejects.toMatchObject({ code: 'bad-store-key' });
        }),
    );
  });

  describe('expiry (extensions-that-act §2.4)', () => {
    it('takes a value from every method when its time is up', () =>
      within(async ({ store, values, clock }) => {
        await store.set('brief', 1, { ttlMs: 1_000 });
        await store.set('long', 2);
        expect(await store.list()).toEqual([
          { key: 'brief', value: 1, expiresAtMs: clock.now() + 1_000 },
          { key: 'long', value: 2 },
        ]);
        await clock.advance(999);
        expect(await store.get('brief')).toBe(1);
        await clock.advance(1);
        expect(await store.get('brief')).toBeUndefined();
        expect((await store.list()).map(({ key }) => key)).toEqual(['long']);
        expect(await store.delete('brief')).toBe(false);
        expect(await store.update<number>('brief', (before = 10) => before + 1)).toBe(11);
        expect(await values.namespaces()).toMatchObject([{ namespace: 'acme', keys: 2 }]);
      }));

    it('ends when a value is kept again without a time', () =>
      within(async ({ store, clock }) => {
        await store.set('key', 1, { ttlMs: 1_000 });
        await store.set('key', 2);
        await clock.advance(1_000);
        expect(await store.get('key')).toBe(2);
      }));

    it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER])(
      'refuses a time of %d',
      (ttlMs) =>
        within(async ({ store }) => {
          await expect(store.set('key', 1, { ttlMs })).rejects.toMatchObject({
            code: 'not-storable',
            details: { path: 'options.ttlMs' },
          });
        }),
    );

    it.each([
      [1.5, 1],
      [-1, 0],
      [Number.NaN, 0],
      [Number.POSITIVE_INFINITY, 2],
    ])('lists at most %d as %d', (limit, count) =>
      within(async ({ store }) => {
        for (const key of ['a', 'b']) await store.set(key, 1);
        expect(await store.list('', { limit })).toHaveLength(count);
      }),
    );

    it('names an option that there is not', () =>
      within(async ({ store }) => {
        await expect(store.set('key', 1, { ttl: 5 } as object)).rejects.toMatchObject({
          details: { path: 'options.ttl', problem: 'it should be "ttlMs"' },
        });
      }));
  });

  describe('the quota (extensions-that-act §2.5)', () => {
    it('refuses a key too many, and takes it when another is gone', () =>
      within(async ({ store, storeOf }) => {
        for (const key of ['a', 'b', 'c']) await store.set(key, 1);
        await expect(store.set('d', 1)).rejects.toMatchObject({
          code: 'store-full',
          message: 'acme: its store is full: it would hold 4 keys of at most 3.',
        });
        await store.set('a', 2);
        await storeOf('other').set('d', 1);
        await store.delete('b');
        await store.set('d', 1);
        expect(await store.get('d')).toBe(1);
      }, smallQuota));

    it('counts bytes, and leaves the value as it was', () =>
      within(async ({ store }) => {
        await store.set('a', 'x'.repeat(150));
        await expect(store.set('a', 'ä'.repeat(100))).rejects.toMatchObject({
          code: 'store-full',
          message: 'acme: its store is full: it would hold 203 bytes of at most 200.',
        });
        await expect(store.update('b', () => 'x'.repeat(50))).rejects.toMatchObject({
          code: 'store-full',
        });
        expect(await store.get('a')).toBe('x'.repeat(150));
        await store.set('a', 'x'.repeat(197));
      }, smallQuota));

    it('does not count values that have expired', () =>
      within(async ({ store, clock }) => {
        for (const key of ['a', 'b', 'c']) await store.set(key, 1, { ttlMs: 1_000 });
        await clock.advance(1_000);
        for (const key of ['d', 'e', 'f']) await store.set(key, 1);
        await expect(store.set('g', 1)).rejects.toMatchObject({ code: 'store-full' });
      }, smallQuota));

    it('is counted right over any writes, deletes and expiries', async () => {
      const key = fc.constantFrom('a', 'b', 'c', 'd');
      const step = fc.oneof(
        fc.record({ key, length: fc.nat(30), ttlMs: fc.option(fc.integer({ min: 1, max: 9 })) }),
        fc.record({ key }),
        fc.record({ waitMs: fc.integer({ min: 1, max: 5 }) }),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 25 }), (steps) =>
          within(async ({ store, values, clock }) => {
            for (const one of steps)
              if ('waitMs' in one) await clock.advance(one.waitMs);
              else if (!('length' in one)) await store.delete(one.key);
              else
                await store.set(
                  one.key,
                  'ä'.repeat(one.length),
                  one.ttlMs === null ? {} : { ttlMs: one.ttlMs },
                );
            await store.set('last', '');
            await store.delete('last'); // with each write some values that have expired are dropped
            const left = await store.list();
            const bytes = left.map(({ key, value }) => Buffer.byteLength(key + value) + 2);
            const sum = bytes.reduce((all, one) => all + one, 0);
            const use = { namespace: 'acme', keys: left.length, bytes: sum };
            expect(await values.namespaces()).toEqual(left.length === 0 ? [] : [use]);
          }),
        ),
        { numRuns: 25 },
      );
    });
  });

  describe('update (extensions-that-act §2.3)', () => {
    it('gives the value before, and keeps the value after', () =>
      within(async ({ store }) => {
        expect(await store.update<number>('n', (before = 0) => before + 1)).toBe(1);
        expect(await store.update<number>('n', async (before = 0) => before + 1)).toBe(2);
        expect(await store.update<number>('n', () => undefined)).toBe(2);
        expect(await store.get('n')).toBe(2);
      }));

    it('runs again if somebody else has written, also if the same value is there again', () =>
      within(async ({ store, storeOf }) => {
        await store.set('n', 1);
        const seen: unknown[] = [];
        await store.update<number>('n', async (before = 0) => {
          seen.push(before);
          if (seen.length === 1) {
            await storeOf('acme', 1).delete('n');
            await storeOf('acme', 1).set('n', 1);
          }
          return before + 1;
        });
        expect(seen).toEqual([1, 1]);
        expect(await store.get('n')).toBe(2);
      }));

    it('rejects as its function does, and writes nothing', () =>
      within(async ({ store }) => {
        const failing = store.update('n', () => {
          throw new Error('no');
        });
        await expect(failing).rejects.toThrow('no');
        expect(await store.get('n')).toBeUndefined();
      }));

    it('loses none, over interleavings of several writers', async () => {
      const writer = fc.record({
        handle: fc.nat(2),
        delays: fc.array(fc.nat(3), { minLength: 1, maxLength: 4 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(writer, { minLength: 2, maxLength: 5 }), (writers) =>
          within(async ({ store, storeOf }) => {
            await Promise.all(
              writers.map(async ({ handle, delays }, at) => {
                for (const turns of delays)
                  await storeOf('acme', handle).update<number[]>('log', async (before = []) => {
                    for (let left = turns; left > 0; left--)
                      await new Promise((resolve) => setImmediate(resolve));
                    return [...before, at];
                  });
              }),
            );
            const expected = writers.flatMap(({ delays }, at) => delays.map(() => at));
            const log = (await store.get<number[]>('log')) ?? [];
            expect(log.toSorted()).toEqual(expected);
          }),
        ),
        { numRuns: Number(process.env['STORE_RUNS'] ?? 15) },
      );
    });
  });
}
