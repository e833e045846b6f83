import { describe, expect, it } from 'vitest';
import type { Late, Outcome } from '../../../src/kernel/internal.js';
import { contributor, createLab } from '../../support/kernel-lab.js';
import { labSample } from '../../support/kernel-stages.js';

const never = (): Promise<never> => new Promise(() => undefined);

class Promised<T> extends Promise<T> {}

type Settle = (value: object) => void;

/** An object with a `then`. */
function thenable(then: (done: Settle, refuse: (reason: unknown) => void) => void): object {
  return Object.defineProperty({}, 'then', { value: then });
}

/** Values with a `then`, each of which settles with a patch. */
const thenables: readonly (readonly [string, () => unknown])[] = [
  ['a promise', () => Promise.resolve({ title: 'new' })],
  ['a subclassed promise', () => Promised.resolve({ title: 'new' })],
  ['a thenable', () => thenable((done) => done({ title: 'new' }))],
  [
    'a proxy with then',
    () =>
      new Proxy(
        {},
        {
          get: (_, key) =>
            key === 'then' ? (done: (value: object) => void) => done({ title: 'new' }) : undefined,
        },
      ),
  ],
];

describe('on a sync-sequential stage', () => {
  it.each(thenables)('%s is refused, and its value never used (§4.4)', async (_, make) => {
    const late: Late[] = [];
    const { kernel, clock } = createLab({ tap: { late: (one) => late.push(one) } });
    const add = contributor(kernel, 'lab.sync');
    add('mutator', 'a', make);
    add('mutator', 'b', ({ payload }) => ({ outro: String(payload['title']) }));
    const outcome = kernel.dispatchSync('lab.sync', labSample());
    expect(outcome.failures.map(({ kind }) => kind)).toEqual(['async-in-sync']);
    expect(outcome.payload).toEqual({ title: 'hello', outro: 'hello' });
    await clock.advance(0);
    expect(outcome.payload).toEqual({ title: 'hello', outro: 'hello' });
    expect(late.map(({ settled }) => settled)).toEqual(['fulfilled']);
    expect(kernel.stats().late).toBe(1);
  });

  it('a rejection is observed (§4.4)', async () => {
    const late: Late[] = [];
    const { kernel, clock } = createLab({ tap: { late: (one) => late.push(one) } });
    contributor(kernel, 'lab.sync')('observer', 'a', () => Promise.reject(new Error('boom')));
    kernel.dispatchSync('lab.sync', labSample());
    await clock.advance(0);
    expect(late).toMatchObject([{ settled: 'rejected', contributionId: 'a' }]);
  });

  it('a fail-closed veto that is async fails the stage (§4.4, §8.4)', () => {
    const { kernel } = createLab();
    contributor(kernel, 'lab.sync')('veto', 'a', () => Promise.resolve({ kind: 'allow' }), {
      failClosed: true,
    });
    expect(kernel.dispatchSync('lab.sync', labSample()).status).toBe('failed');
  });
});

describe('on a sequential stage', () => {
  it.each(thenables)('%s is waited for (§4.3)', async (_, make) => {
    const { kernel } = createLab();
    contributor(kernel, 'lab.sequential')('mutator', 'a', make);
    const outcome = await kernel.dispatch('lab.sequential', labSample());
    expect(outcome.payload).toEqual({ title: 'new' });
  });

  it('of a thenable that calls back twice, or throws afterwards, the first counts (§5.6)', async () => {
    const { kernel } = createLab();
    const add = contributor(kernel, 'lab.sequential');
    add('mutator', 'a', () =>
      thenable((done, refuse) => {
        done({ title: 'first' });
        done({ title: 'second' });
        refuse(new Error('third'));
        throw new Error('fourth');
      }),
    );
    const outcome = await kernel.dispatch('lab.sequential', labSample());
    expect([outcome.payload, outcome.failures]).toEqual([{ title: 'first' }, []]);
  });

  it.each(['lab.sequential', 'lab.parallel'])(
    'a then that throws when it is read is a failure, on %s (§5.3)',
    async (family) => {
      const { kernel } = createLab();
      const get = (): never => {
        throw new Error('no');
      };
      const hostile = Object.defineProperty({}, 'then', { get });
      contributor(kernel, family)('observer', 'a', () => hostile);
      const outcome = await kernel.dispatch(family, labSample());
      expect(outcome.failures.map(({ kind, message }) => [kind, message])).toEqual([
        ['threw', 'no'],
      ]);
    },
  );

  it.each(['lab.sequential', 'lab.parallel'])(
    'a lazy thenable is started once, also when it is given up, on %s (§5.6)',
    async (family) => {
      const { kernel, clock } = createLab();
      let started = 0;
      contributor(kernel, family)('observer', 'a', () => thenable(() => void started++));
      const running = kernel.dispatch(family, labSample());
      await clock.advance(400);
      expect((await running).failures.map(({ kind }) => kind)).toEqual(['timed-out']);
      await clock.advance(0);
      expect(started).toBe(1);
    },
  );
});

type Then = (done: (value: unknown) => void, refuse: (reason: unknown) => void) => void;

/** Promises of the platform with a `then` of their own. */
const owned: readonly (readonly [string, (then: Then) => unknown])[] = [
  ['a promise with a then of its own', (then) => Object.assign(Promise.resolve(), { then })],
  [
    'a promise whose then is another at the third look',
    (then) => {
      let looks = 0;
      const get = (): unknown => (++looks <= 2 ? Promise.prototype.then : then);
      return Object.defineProperty(Promise.resolve(), 'then', { get });
    },
  ],
];

describe.each(['lab.sequential', 'lab.parallel'])('the callbacks of a promise, on %s', (family) => {
  it.each(owned)('%s settles no other handler by calling back again (§5.6)', async (_, make) => {
    const { kernel, clock } = createLab();
    const kept: ((value: unknown) => void)[] = [];
    const promises = [
      make((done, refuse) => {
        kept.push(done, refuse);
        done(undefined);
        refuse(new Error('again'));
        done(undefined);
      }),
      ...[never(), never(), never()],
    ];
    const outcomes = new Map<number, Outcome>();
    contributor(kernel, family)('observer', 'a', () => promises.shift());
    for (let at = 0; at < 4; at++) {
      void kernel.dispatch(family, labSample()).then((outcome) => outcomes.set(at, outcome));
      await clock.advance(0);
    }
    for (const again of kept) again(undefined);
    await clock.advance(0);
    expect([...outcomes].map(([at, { status, failures }]) => [at, status, failures])).toEqual([
      [0, 'passed', []],
    ]);
    await clock.advance(400);
    expect(outcomes.size).toBe(4);
    expect(kernel.stats()).toMatchObject({ passed: 4, failedOpen: 3, late: 0, waiting: 0 });
  });
});
