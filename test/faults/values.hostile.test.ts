import { describe, expect, it } from 'vitest';
import { isSluiceError, type SluiceError, select } from '../../src/kernel/internal.js';
import { bench, combinations, failuresOf, faultSample, faultStage } from '../support/faults.js';
import { type Bag, type LabHandler, labKernel } from '../support/kernel-lab.js';

const revoked = (target: object = {}): object => {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
};

const boom = (): never => {
  throw new Error('a hostile getter');
};

/** An object with one accessor, and how often it was read. */
function counting(key: string, answers: readonly unknown[], rest: Bag = {}) {
  const read = { times: 0 };
  const value = Object.defineProperty({ ...rest }, key, {
    get: () => answers[Math.min(read.times++, answers.length - 1)],
    enumerable: true,
    configurable: true,
  });
  return { read, value };
}

/** A proxy that says one thing until it is frozen, and another afterwards. */
function lying(shown: Bag, real: Bag, ownKeys: readonly string[] = Object.keys(shown)): object {
  let frozen = false;
  return new Proxy(real, {
    get: (target, key) => (frozen ? Reflect.get(target, key) : Reflect.get(shown, key)),
    ownKeys: (target) => (frozen ? Reflect.ownKeys(target) : [...ownKeys]),
    getOwnPropertyDescriptor: (target, key) => {
      const own = Reflect.getOwnPropertyDescriptor(target, key);
      return frozen || own === undefined ? own : { ...own, value: Reflect.get(shown, key) };
    },
    preventExtensions: (target) => {
      frozen = true;
      return Reflect.preventExtensions(target);
    },
  });
}

/** Which of the two is the kernel's to choose; both name the path. */
const refusals = ['bad-payload', 'unfreezable-payload'];

const stage = faultStage();
const openStage = faultStage({ family: 'fault.open' });

/** What a value from outside may never smuggle in (§1.6). */
function firstUnsafe(value: unknown, path = ''): string | undefined {
  if (typeof value === 'function' || typeof value === 'symbol') return path;
  if (typeof value !== 'object' || value === null) return undefined;
  if (value instanceof Map || !Object.isFrozen(value)) return path || '/';
  for (const key of Reflect.ownKeys(value)) {
    const found = firstUnsafe(Reflect.get(value, key), `${path}/${String(key)}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function parse(value: unknown): { readonly error?: SluiceError; readonly payload?: Bag } {
  try {
    return { payload: labKernel([stage]).parsePayload(stage.family, value) };
  } catch (error) {
    expect(error).toSatisfy(isSluiceError, 'a typed error');
    return { error: error as SluiceError };
  }
}

describe('fault 14: hostile values at parsePayload -> typed error, read at most once', () => {
  it.each([
    ['a getter that throws', Object.defineProperty(faultSample(), 'content', { get: boom })],
    [
      'a nested getter',
      faultSample({ tags: Object.defineProperty({}, 'x', { get: boom, enumerable: true }) }),
    ],
    ['a revoked proxy inside', faultSample({ tags: revoked() })],
    ['a revoked proxy inside a list', { ...faultSample(), list: [revoked()] }],
    ['a proxy whose ownKeys throws', new Proxy(faultSample(), { ownKeys: boom })],
    ['a proxy whose getPrototypeOf throws', new Proxy(faultSample(), { getPrototypeOf: boom })],
    [
      'a proxy with ownKeys that are no keys',
      new Proxy(faultSample(), { ownKeys: () => [1 as never] }),
    ],
    ['a class instance', new (class Payload {})()],
    ['a function', () => faultSample()],
    ['a text', 'payload'],
    ['nothing', undefined],
  ])('%s (§1.4, §1.6)', (_name, value) => {
    const { error } = parse(value);
    expect(refusals).toContain(error?.code);
    expect(error?.message).toContain('fault.stage');
  });

  it.each([
    ['whose get throws', new Proxy(faultSample(), { get: boom })],
    ['that cannot be frozen', new Proxy(faultSample(), { preventExtensions: () => false })],
    ['that hides its keys', new Proxy(faultSample(), { ownKeys: () => [] })],
  ])('a proxy %s: refused, or taken as a plain frozen value', (_name, value) => {
    const { error, payload } = parse(value);
    if (error === undefined) {
      expect(payload).toEqual(faultSample());
      expect(firstUnsafe(payload)).toBeUndefined();
    } else expect(refusals).toContain(error.code);
  });

  it.each([
    ['a revoked proxy', revoked()],
    ['a revoked proxy of an array', revoked([])],
  ])('%s as the payload itself', (_name, value) => {
    expect(refusals).toContain(parse(value).error?.code);
  });

  it('an accessor is refused by its path, without being read', () => {
    const { read, value } = counting('content', ['a', 'b'], faultSample());
    const { error } = parse(value);
    expect(refusals).toContain(error?.code);
    expect(error?.details['path']).toBe('/content');
    expect(read.times).toBe(0);
  });

  it('an accessor that is not enumerable is refused as well', () => {
    let reads = 0;
    const value = faultSample();
    Object.defineProperty(value, 'content', {
      get: () => (reads++ === 0 ? 'checked' : { other: 'seen' }),
      enumerable: false,
    });
    const { error, payload } = parse(value);
    if (error === undefined) expect(payload?.['content']).toBe('checked');
    expect(reads).toBeLessThanOrEqual(1);
  });

  it.each([
    ['shows a text for a Map', lying({ color: 'red' }, { color: new Map() })],
    ['hides a Map from ownKeys', lying({}, { color: new Map() }, [])],
    ['hides a function', lying({ color: 'red' }, { color: () => 1 })],
    [
      'shows a frozen record for an open one',
      lying({ color: Object.freeze({}) }, { color: { open: 1 } }),
    ],
  ])('a proxy that %s: what was checked is what is seen', (_name, tags) => {
    const { payload } = parse(faultSample({ tags }));
    if (payload !== undefined) expect(firstUnsafe(payload)).toBeUndefined();
  });

  it('with validate: always, dispatch answers the same way', async () => {
    const kernel = labKernel([stage], { validate: 'always' });
    for (const value of [new Proxy(faultSample(), { ownKeys: boom }), revoked(), new Map(), 'x'])
      await expect(kernel.dispatch(stage.family, value)).rejects.toSatisfy(isSluiceError);
  });
});

describe('fault 14: hostile handler results -> a typed failure, never an escape', () => {
  const results: readonly (readonly [name: string, make: () => unknown])[] = [
    ['a revoked proxy', () => revoked()],
    ['a proxy whose ownKeys throws', () => new Proxy({}, { ownKeys: boom })],
    [
      'a proxy whose every trap throws',
      () => new Proxy({}, { get: boom, ownKeys: boom, getPrototypeOf: boom }),
    ],
    [
      'a proxy that reports no keys it has',
      () => new Proxy({ content: 1 }, { ownKeys: () => ['a', 'a'] }),
    ],
    [
      'getters that throw',
      () =>
        Object.defineProperties(
          {},
          {
            content: { get: boom, enumerable: true },
            notes: { get: boom, enumerable: true },
            kind: { get: boom, enumerable: true },
          },
        ),
    ],
  ];
  describe.each(combinations)('$name', (row) => {
    it.each(results)('%s', async (_name, make) => {
      const outcome = await bench(row, make).dispatch();
      const failures = failuresOf(outcome);
      expect(failures).toHaveLength(1);
      expect(['threw', 'bad-output']).toContain(failures[0]?.kind);
      expect(outcome.payload).toBe(outcome.event['payload']);
      expect(outcome.annotations).toEqual({});
    });
  });
});

describe('fault 14: results that answer differently each time are read once (§6.4)', () => {
  const dispatch = async (
    name: 'mutator' | 'augmenter' | 'veto' | 'resolver',
    handler: LabHandler,
  ) => {
    const kernel = labKernel([openStage]);
    kernel.contribute({ family: openStage.family, class: name, id: 'a', handler });
    return kernel.dispatch(openStage.family, faultSample());
  };

  it.each(['content', 'flag', 'list', 'tail', 'head', 'first', 'tags', 'opaque'])(
    'the patch field %s',
    async (field) => {
      const good = { ...faultSample(), opaque: 'x' }[field];
      const { read, value } = counting(field, [good, Symbol('changed')]);
      const outcome = await dispatch('mutator', () => value);
      expect(read.times).toBeLessThanOrEqual(1);
      expect(firstUnsafe(outcome.payload)).toBeUndefined();
    },
  );

  it.each(['notes', 'language', 'topic'])('the annotation %s', async (field) => {
    const { read, value } = counting(field, [field === 'notes' ? ['x'] : 'x', 1]);
    const outcome = await dispatch('augmenter', () => value);
    expect(read.times).toBeLessThanOrEqual(1);
    expect(firstUnsafe(outcome.annotations)).toBeUndefined();
  });

  it.each(['kind', 'code', 'text', 'details'])('the %s of a cancel', async (field) => {
    const whole: Bag = { kind: 'cancel', code: 'policy', text: 'why', details: { a: 1 } };
    const { read, value } = counting(field, [whole[field], 'changed'], whole);
    await dispatch('veto', () => value);
    expect(read.times).toBeLessThanOrEqual(1);
  });

  it('a cancel stays a cancel when kind changes after it was read (§8.2)', async () => {
    const { value } = counting('kind', ['cancel', 'cancel', 'allow'], { code: 'policy' });
    expect((await dispatch('veto', () => value)).status).not.toBe('passed');
  });

  it.each([
    ['cannot be made a text', Object.create(null)],
    ['is a symbol', Symbol('policy')],
    ['is missing', undefined],
    ['is a proxy that throws', new Proxy({}, { get: boom })],
  ])('a cancel whose code %s stands, as other (§8.5)', async (_name, code) => {
    const outcome = await dispatch('veto', () => ({ kind: 'cancel', code }));
    expect(outcome.status).toBe('cancelled');
    expect(outcome.cancel?.code).toBe('other');
  });

  it.each(['kind', 'target', 'explicit', 'rank'])('the %s of a candidate', async (field) => {
    const whole: Bag = { ...select({ to: 'x' }) };
    const { read, value } = counting(field, [whole[field], 'changed'], whole);
    const outcome = await dispatch('resolver', () => value);
    expect(read.times).toBeLessThanOrEqual(1);
    for (const { explicit, rank } of outcome.candidates) {
      expect(explicit).toBeTypeOf('boolean');
      expect(rank).toBeTypeOf('number');
    }
  });

  it.each([
    ['a Map for a text', lying({ color: 'red' }, { color: new Map() })],
    ['what it hid from ownKeys', lying({}, { color: new Map() }, [])],
  ])('a lying proxy in a patch does not smuggle in %s', async (_name, opaque) => {
    const outcome = await dispatch('mutator', () => ({ opaque }));
    expect(firstUnsafe(outcome.payload)).toBeUndefined();
  });

  it.each([
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['a Map', new Map()],
    ['a Map under a symbol', { [Symbol('x')]: new Map() }],
    ['a Map that is not enumerable', Object.defineProperty({}, 'x', { value: new Map() })],
    ['an array of a subclass', new (class List extends Array<unknown> {})()],
  ])('%s is refused in a field that takes anything (§1.6)', async (_name, opaque) => {
    const outcome = await dispatch('mutator', () => ({ opaque }));
    expect(outcome.failures).toMatchObject([{ kind: 'bad-output' }]);
    expect(outcome.payload['opaque']).toBeUndefined();
  });
});
