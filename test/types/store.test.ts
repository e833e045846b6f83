import { describe, expectTypeOf, it } from 'vitest';
import type { ExtensionApi } from '../../src/index.js';

type Store = ExtensionApi['store'];
interface Asked {
  readonly atMs: number;
  readonly by?: string;
}

describe('the types of a store (extensions-that-act §2.1)', () => {
  it('take plain data, also of an interface, and refuse the rest', () => {
    const uses = (store: Store, asked: Asked): unknown[] => [
      store.set('a', asked),
      store.set('b', [1, null, { deep: ['x'] }]),
      // @ts-expect-error a date is no plain JSON
      store.set('c', { at: new Date() }),
      // @ts-expect-error nor is a map
      store.set('d', new Map([['a', 1]])),
      // @ts-expect-error nor a function
      store.set('e', () => 1),
      // @ts-expect-error nor a big integer
      store.set('f', 1n),
      // @ts-expect-error there is no such option
      store.set('g', 1, { ttl: 5 }),
    ];
    expectTypeOf(uses).returns.toEqualTypeOf<unknown[]>();
  });

  it('say what an update gives', () => {
    const count = (store: Store) => store.update<number>('n', (before = 0) => before + 1);
    expectTypeOf(count).returns.resolves.toEqualTypeOf<number | undefined>();
  });
});
