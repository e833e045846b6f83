import { describe, expect, it } from 'vitest';
import { hasFields, memoryKeyValues, WorkItems } from '../../../../src/sdk/extension/internal.js';

interface Tea {
  readonly name: string;
  readonly cups: number;
}

const isItem = hasFields<Tea>({ name: 'string', cups: 'number' });
const at = { namespace: '/teas', key: 'a' };

/** Items of tea, and the keys of the rows that cannot be read. */
function teas(quota = { maxKeys: 10_000, maxBytes: 1_000_000 }) {
  const values = memoryKeyValues();
  const unreadable: string[] = [];
  const onUnreadable = ({ key }: { readonly key: string }) => void unreadable.push(key);
  return { values, unreadable, items: new WorkItems(values, { isItem, quota, onUnreadable }) };
}

describe('work items', () => {
  it('are read in the order of their keys, however many pages they have, or as many as are asked for', async () => {
    const { items, values } = teas();
    for (let cups = 0; cups < 2_500; cups++)
      await values.write(
        '/teas',
        `${10_000 + cups}`,
        { body: `{"name":"oolong","cups":${cups}}` },
        {},
      );
    const all = await items.list('/teas');
    expect(all.map(({ item }) => item.cups)).toEqual(Array.from({ length: 2_500 }, (_, at) => at));
    expect(await items.list('/teas', { limit: 1_001 })).toHaveLength(1_001);
    expect(await items.list('/teas', { prefix: '1249' })).toHaveLength(10);
  });

  it.each(['{"name":"oolong"}', '{"name":null,"cups":1}', '[]', 'null', '"tea"', 'no JSON'])(
    'leave a row that holds none as it is, say so, and do not change it: %s',
    async (body) => {
      const { items, values, unreadable } = teas();
      await values.write('/teas', 'a', { body }, {});
      expect([await items.find('/teas', 'a'), await items.list('/teas')]).toEqual([undefined, []]);
      expect(unreadable).toEqual(['a', 'a']);
      const changing = items.change(at, () => ({ name: 'oolong', cups: 1 }));
      await expect(changing).rejects.toThrow('the row a of /teas cannot be read');
      expect(await values.get('/teas', 'a')).toMatchObject({ body });
    },
  );

  it('are changed in one step with the look at them: of two that count, none is lost', async () => {
    const { items } = teas();
    const drink = () =>
      items.change(at, async (was = { name: 'oolong', cups: 0 }) => {
        await new Promise(setImmediate);
        return { ...was, cups: was.cups + 1 };
      });
    await Promise.all([drink(), drink(), drink()]);
    expect(await items.find('/teas', 'a')).toEqual({ name: 'oolong', cups: 3 });
  });

  it('are written only in place of the item that is expected, and not beyond the quota', async () => {
    const { items } = teas({ maxKeys: 1, maxBytes: 1_000 });
    const tea = { name: 'oolong', cups: 1 };
    expect(await items.write(at, tea, { ...tea, cups: 2 })).toBe('conflict');
    expect(await items.write(at, tea, null)).toBe('written');
    expect(await items.write(at, tea, null)).toBe('conflict');
    expect(await items.write({ ...at, key: 'b' }, tea)).toBe('full');
    expect(await items.write(at, undefined, tea)).toBe('written');
    expect(await items.find('/teas', 'a')).toBeUndefined();
    const gone = await items.change(at, () => null);
    expect([gone.was, gone.item]).toEqual([undefined, null]);
  });
});
