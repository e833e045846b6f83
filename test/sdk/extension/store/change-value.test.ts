import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KeyValues } from '../../../../src/sdk/extension/index.js';
import { deleteValue, memoryKeyValues } from '../../../../src/sdk/extension/internal.js';
import { changeValue } from '../../../../src/sdk/extension/store/change-value.js';

const namespace = 'acme';
const key = 'k';

/** Key values whose calls wait for as many turns as a test says, each for the next of them. */
function slow(values: KeyValues, turns: readonly number[]): Pick<KeyValues, 'get' | 'write'> {
  let calls = 0;
  const wait = async (): Promise<void> => {
    for (let left = turns[calls++ % turns.length] ?? 0; left > 0; left--) await undefined;
  };
  return {
    get: async (...given) => {
      await wait();
      return values.get(...given);
    },
    write: async (...given) => {
      await wait();
      return values.write(...given);
    },
  };
}

describe('a change of a kept value', () => {
  it('comes through once for each that changes it, in whatever order their calls come (judgement §4.14)', async () => {
    const turns = fc.array(fc.nat(5), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(turns, fc.integer({ min: 2, max: 6 }), async (waits, many) => {
        const kept = memoryKeyValues();
        const values = slow(kept, waits);
        const add = () =>
          changeValue({ values, namespace, key }, (was) => ({
            body: String(Number(was?.body ?? 0) + 1),
          }));
        await Promise.all(Array.from({ length: many }, add));
        expect((await kept.get(namespace, key))?.body).toBe(String(many));
      }),
    );
  });

  it('is made by one of all that make the same one (judgement §4.14)', async () => {
    const turns = fc.array(fc.nat(5), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(turns, fc.integer({ min: 2, max: 6 }), async (waits, many) => {
        const kept = memoryKeyValues();
        await kept.write(namespace, key, { body: 'open' }, {});
        const values = slow(kept, waits);
        const end = (_: unknown, by: number) =>
          changeValue({ values, namespace, key }, (was) =>
            was?.body === 'open' ? { body: `ended by ${by}` } : undefined,
          );
        const ends = await Promise.all(Array.from({ length: many }, end));
        const made = ends.filter(({ result }) => result !== undefined);
        expect(made).toHaveLength(1);
        expect((await kept.get(namespace, key))?.body).toBe(made[0]?.value?.body);
      }),
    );
  });

  it('tells that there is no room, and deletes what fits alone', async () => {
    const values = memoryKeyValues();
    const at = { values, namespace, key };
    const none = { ...at, quota: { maxKeys: 0, maxBytes: 0 } };
    const { result } = await changeValue(none, () => ({ body: '1' }));
    expect(result?.status).toBe('full');
    await changeValue(at, () => ({ body: '1' }));
    expect(await deleteValue(at, (body) => body === '2')).toBeUndefined();
    expect((await values.get(namespace, key))?.body).toBe('1');
    expect(await deleteValue(at)).toMatchObject({ body: '1' });
    expect(await values.get(namespace, key)).toBeUndefined();
  });
});
