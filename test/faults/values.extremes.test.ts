import { describe, expect, it } from 'vitest';
import type { SluiceError } from '../../src/kernel/internal.js';
import { faultSample, faultStage } from '../support/faults.js';
import { type Bag, labKernel } from '../support/kernel-lab.js';

const stage = faultStage();

/** The ways in: each returns what a handler after it sees in the field `opaque`, or throws what was said. */
type Door = (opaque: unknown) => Promise<unknown>;

const seenBy = async (payload: Bag, patch?: Bag): Promise<unknown> => {
  const kernel = labKernel([stage]);
  const seen: Bag[] = [];
  if (patch !== undefined)
    kernel.contribute({ family: stage.family, class: 'mutator', id: 'a', handler: () => patch });
  kernel.contribute({
    family: stage.family,
    class: 'observer',
    id: 'z',
    handler: (call) => {
      seen.push(call.payload);
    },
  });
  const outcome = await kernel.dispatch(stage.family, payload);
  if (outcome.failures[0] !== undefined) throw outcome.failures[0].error;
  return seen[0]?.['opaque'];
};

const doors: Readonly<Record<string, Door>> = {
  dispatch: (opaque) => seenBy(faultSample({ opaque })),
  parsePayload: async (opaque) =>
    seenBy(labKernel([stage]).parsePayload(stage.family, faultSample({ opaque }))),
  patch: (opaque) => seenBy(faultSample(), { opaque }),
};

const nested = (levels: number): object => {
  let inner: object = {};
  for (let i = 1; i < levels; i++) inner = { inner };
  return inner;
};

const cyclic = (): Bag => {
  const ring: Bag = { list: [] };
  ring['self'] = ring;
  (ring['list'] as unknown[]).push(ring, { ring });
  return ring;
};

/** Frozen all the way, cycles and shared parts included. */
function isDeepFrozen(root: object): boolean {
  const seen = new Set<object>();
  const left = [root];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    if (!Object.isFrozen(node)) return false;
    for (const value of Object.values(node))
      if (typeof value === 'object' && value !== null) left.push(value as object);
  }
  return true;
}

const sparse = (): unknown[] => {
  const list: unknown[] = ['first'];
  list[3] = 'last';
  return list;
};

describe.each(Object.entries(doors))(
  'fault 15: extreme values through %s (§1.6)',
  (_door, through) => {
    it.each([
      ['NaN', Number.NaN],
      ['-0', -0],
      ['an infinity', Number.NEGATIVE_INFINITY],
      ['a bigint', 2n ** 80n],
      ['a lone surrogate', '\ud800 and \udc00'],
      ['a text with a null character', 'a\u0000b'],
      ['null', null],
    ])('%s goes through as it is', async (_name, value) => {
      expect(Object.is(await through(value), value)).toBe(true);
      const inner = (await through({ deep: [value] })) as { deep: unknown[] };
      expect(Object.is(inner.deep[0], value)).toBe(true);
    });

    it('a text of 50 MB goes through as it is', async () => {
      const text = 'x'.repeat(50_000_000);
      expect((await through(text)) === text).toBe(true);
    });

    it('undefined stays apart from missing, inside', async () => {
      const seen = (await through({ there: undefined })) as Bag;
      expect(Object.keys(seen)).toEqual(['there']);
      expect(seen['there']).toBeUndefined();
    });

    it('a sparse array keeps its holes, and freezes', async () => {
      const seen = (await through(sparse())) as unknown[];
      expect(seen).toHaveLength(4);
      expect(1 in seen).toBe(false);
      expect(isDeepFrozen(seen)).toBe(true);
    });

    it('a cycle is kept, and frozen', async () => {
      const seen = (await through(cyclic())) as Bag;
      expect(seen['self']).toBe(seen);
      expect(isDeepFrozen(seen)).toBe(true);
    });

    it('shared parts stay one object, and are frozen', async () => {
      const part = { n: 1 };
      const seen = (await through({ left: part, right: [part, part] })) as Bag;
      expect(seen['left']).toBe((seen['right'] as unknown[])[1]);
      expect(isDeepFrozen(seen)).toBe(true);
    });

    it('parts shared at every one of 500 levels are walked once, not 2^500 times', async () => {
      let part: Bag = {};
      for (let i = 0; i < 500; i++) part = { left: part, right: part };
      expect(isDeepFrozen((await through(part)) as Bag)).toBe(true);
    });

    it('an open part below a frozen one is frozen', async () => {
      const seen = await through(Object.freeze({ open: { n: 1 } }));
      expect(isDeepFrozen(seen as Bag)).toBe(true);
    });

    it('511 levels below a field go through', async () => {
      expect(isDeepFrozen((await through(nested(511))) as Bag)).toBe(true);
    });

    it.each([600, 20_000, 200_000])(
      '%i levels are refused, by name of the limit',
      async (levels) => {
        await expect(through(nested(levels))).rejects.toThrow(/deeper than 51\d/);
      },
    );

    it('an array of 20,000 levels is refused', async () => {
      let list: unknown[] = [];
      for (let i = 0; i < 20_000; i++) list = [list];
      await expect(through(list)).rejects.toThrow(/deeper than 51\d/);
    });
  },
);

describe('fault 15: the border cases of the schema', () => {
  it('a patch of undefined, or of a missing key, is no opinion; null clears (§6.1)', async () => {
    const payload = faultSample({ opaque: 'emitted' });
    expect(await seenBy(payload, { opaque: undefined })).toBe('emitted');
    expect(await seenBy(faultSample({ opaque: 'emitted' }), {})).toBe('emitted');
    expect(await seenBy(faultSample({ opaque: 'emitted' }), { opaque: null })).toBeNull();
  });

  it('NaN and infinities do not fit a number', async () => {
    for (const count of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const kernel = labKernel([stage]);
      expect(() => kernel.parsePayload(stage.family, faultSample({ count }))).toThrow(
        expect.objectContaining({
          code: 'bad-payload',
          details: expect.objectContaining({ path: '/count' }),
        }),
      );
      await expect(seenBy(faultSample(), { count })).rejects.toThrow(/"count"/);
    }
  });

  it('with neither handler nor tap nothing is frozen or looked into (§1.5)', async () => {
    const deep = faultSample({ opaque: nested(20_000) });
    const outcome = await labKernel([stage]).dispatch(stage.family, deep);
    expect(outcome.status).toBe('passed');
    expect(Object.isFrozen(deep)).toBe(false);
  });

  it('what one stage passed, the next one takes: no patch nests deeper than a payload may', async () => {
    for (const levels of [511, 512, 513]) {
      const kernel = labKernel([stage]);
      const patch = { opaque: nested(levels) };
      kernel.contribute({ family: stage.family, class: 'mutator', id: 'a', handler: () => patch });
      const first = await kernel.dispatch(stage.family, faultSample());
      await expect(kernel.dispatch(stage.family, first.payload)).resolves.toBeDefined();
    }
  });
});

class Account {
  balance = 1;
}

describe.each(Object.entries(doors))(
  'fault 16: what cannot be frozen is refused by %s',
  (door, through) => {
    it.each([
      ['Uint8Array', new Uint8Array(2)],
      ['an empty Uint8Array', new Uint8Array(0)],
      ['Buffer', Buffer.from('x')],
      ['Float64Array on shared memory', new Float64Array(new SharedArrayBuffer(8))],
      ['DataView', new DataView(new ArrayBuffer(1))],
      ['ArrayBuffer', new ArrayBuffer(1)],
      ['SharedArrayBuffer', new SharedArrayBuffer(1)],
      ['Map', new Map([['a', 1]])],
      ['Set', new Set([1])],
      ['WeakMap', new WeakMap()],
      ['Date', new Date(0)],
      ['RegExp', /x/g],
      ['Error', new Error('x')],
      ['Promise', Promise.resolve(1)],
      ['a class instance', new Account()],
      ['a function', () => 1],
      ['a symbol', Symbol('x')],
    ])('%s', async (_name, value) => {
      const refused = through({ deep: [{ value }] });
      await expect(refused).rejects.toThrow(/deep\/0\/value/); // §1.6: the path
      const error = (await refused.catch((caught: unknown) => caught)) as SluiceError;
      if (door !== 'patch') {
        expect(['bad-payload', 'unfreezable-payload']).toContain(error.code);
        expect(`${error.message} ${error.hint}`).toMatch(/milliseconds|base64|plain data/); // what to send instead
      }
      if (typeof value === 'object' && !(value instanceof Promise))
        expect(Object.isFrozen(value), 'it was left as it was').toBe(false);
    });
  },
);
