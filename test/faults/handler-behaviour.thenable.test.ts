import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  afterFailure,
  bench,
  budgetMs,
  type Combination,
  combinations,
  failuresOf,
  faultStage,
} from '../support/faults.js';
import { faultClock, settleAll } from '../support/faults-clock.js';
import { type LabHandler, type LabOutcome, labKernel } from '../support/kernel-lab.js';

const sync = combinations.filter(({ mode }) => mode === 'sync-sequential');
const waiting = combinations.filter(({ mode }) => mode !== 'sync-sequential');
const rowOf = (name: string): Combination => {
  const row = combinations.find((one) => one.name === name);
  if (row === undefined) throw new Error(`no combination ${name}`);
  return row;
};

class OwnPromise extends Promise<unknown> {}

type Then = (fulfil: (value: unknown) => void, refuse: (reason: unknown) => void) => void;
const thenable = (then: Then): object => ({ then });

const boom = (): Error => new Error('boom');
const getterThen = (then: Then) => {
  const read = { times: 0 };
  const value = Object.defineProperty({}, 'then', {
    get: () => {
      read.times++;
      return then;
    },
    enumerable: true,
  });
  return { read, value };
};

/** Values with a callable `then`, each of which would reject. */
const rejecting: readonly (readonly [name: string, make: () => object])[] = [
  ['a promise', () => Promise.reject(boom())],
  ['a subclassed promise', () => OwnPromise.reject(boom())],
  ['a thenable', () => thenable((_, refuse) => refuse(boom()))],
  ['a getter-then', () => getterThen((_, refuse) => refuse(boom())).value],
  [
    'a proxy with then',
    () =>
      new Proxy(
        {},
        {
          get: (_, key) =>
            key === 'then' ? (_f: unknown, refuse: (why: Error) => void) => refuse(boom()) : 1,
        },
      ),
  ],
];

let unhandled: unknown[] = [];
const note = (reason: unknown): void => {
  unhandled.push(reason);
};
beforeEach(() => {
  unhandled = [];
  process.on('unhandledRejection', note);
});
afterEach(() => {
  process.off('unhandledRejection', note);
});

describe('fault 6: a thenable from a sync stage -> refused, rejection observed, value unused', () => {
  describe.each(sync)('$name', (row) => {
    it.each(rejecting)('%s', async (_name, make) => {
      const { kernel, next, dispatch } = bench(row, make);
      const outcome = await dispatch();
      expect(failuresOf(outcome)).toMatchObject([{ kind: 'async-in-sync', policy: row.effect }]); // §4.4
      expect(outcome.payload).toBe(outcome.event['payload']);
      expect({ next: next.length, status: outcome.status }).toEqual(afterFailure(row));

      await settleAll();
      expect(unhandled).toEqual([]);
      expect(kernel.stats().late).toBe(1);
    });

    it('one that fulfils: the value is dropped and counted (§5.6)', async () => {
      const { kernel, dispatch } = bench(row, () => Promise.resolve({ content: 'late' }));
      const outcome = await dispatch();
      await settleAll();
      expect(outcome.payload['content']).toBe('emitted');
      expect(kernel.stats().late).toBe(1);
    });

    it('a then that throws when it is read -> threw', async () => {
      const value = Object.defineProperty({}, 'then', {
        get: () => {
          throw boom();
        },
      });
      const outcome = await bench(row, () => value).dispatch();
      expect(failuresOf(outcome)).toMatchObject([{ kind: 'threw', message: 'boom' }]);
    });
  });

  it('async functions are refused when they are registered (§4.4)', () => {
    const stage = faultStage({ mode: 'sync-sequential' });
    const handlers: LabHandler[] = [
      async () => undefined,
      async function named() {
        return undefined;
      },
      async function* generator() {
        yield undefined;
      },
      { async method() {} }.method,
    ];
    for (const handler of handlers) {
      const kernel = labKernel([stage]);
      const contribute = () =>
        kernel.contribute({ family: stage.family, class: 'observer', id: 'a', handler });
      expect(contribute).toThrow(expect.objectContaining({ code: 'async-handler' }));
      expect(kernel.plan(stage.family)).toEqual([]);
    }
  });
});

describe('fault 7: then calls back more than once -> the first settlement only', () => {
  const patch = (content: string) => ({ content });
  const cases: readonly (readonly [name: string, then: Then])[] = [
    [
      'twice',
      (fulfil) => {
        fulfil(patch('first'));
        fulfil(patch('second'));
      },
    ],
    [
      'fulfils, then rejects',
      (fulfil, refuse) => {
        fulfil(patch('first'));
        refuse(boom());
      },
    ],
    [
      'fulfils synchronously, then throws',
      (fulfil) => {
        fulfil(patch('first'));
        throw boom();
      },
    ],
    [
      'fulfils with a thenable, then with a value',
      (fulfil) => {
        fulfil(thenable((inner) => inner(patch('first'))));
        fulfil(patch('second'));
      },
    ],
  ];

  it.each(cases)('%s', async (_name, then) => {
    const { next, dispatch } = bench(rowOf('mutator on sequential, open'), () => thenable(then));
    const outcome = await dispatch();
    await settleAll();
    expect(outcome.payload['content']).toBe('first'); // §5.6
    expect(next.map(({ payload }) => payload['content'])).toEqual(['first']);
    expect(outcome.failures).toEqual([]);
    expect(outcome.changes).toHaveLength(1);
    expect(unhandled).toEqual([]);
  });

  it.each(waiting)('$name: rejects, then fulfils -> one failure', async (row) => {
    const twice = thenable((fulfil, refuse) => {
      refuse(boom());
      fulfil(undefined);
    });
    const { kernel, next, dispatch } = bench(row, () => twice);
    const outcome = await dispatch();
    await settleAll();
    expect(failuresOf(outcome)).toMatchObject([{ kind: 'threw', message: 'boom' }]);
    expect(next).toHaveLength(afterFailure(row).next);
    expect(kernel.stats().late).toBe(0);
  });

  it.each(waiting)(
    '$name: a lazy thenable is started once, also when it times out',
    async (row) => {
      let started = 0;
      const clock = faultClock();
      const lazy = thenable(() => {
        started++; // a query builder runs its query here
      });
      const { dispatch } = bench(row, () => lazy, { clock });
      const ended: LabOutcome[] = [];
      void dispatch().then((outcome) => ended.push(outcome));
      await settleAll();
      clock.advance(budgetMs);
      await settleAll();
      expect(ended).toHaveLength(1);
      expect(started).toBe(1);
    },
  );

  it.each(waiting)(
    '$name: a thenable whose prototype cannot be read is waited for like any other',
    async (row) => {
      const hostile = new Proxy(
        thenable(() => undefined),
        {
          getPrototypeOf: () => {
            throw boom();
          },
        },
      );
      const clock = faultClock();
      const { next, dispatch } = bench(row, () => hostile, { clock });
      const ended: LabOutcome[] = [];
      void dispatch().then((outcome) => ended.push(outcome));
      await settleAll();
      expect(ended).toHaveLength(0);
      clock.advance(budgetMs);
      await settleAll();
      expect(ended.map((outcome) => failuresOf(outcome).map(({ kind }) => kind))).toEqual([
        ['timed-out'],
      ]);
      expect(next).toHaveLength(afterFailure(row).next);
    },
  );

  it.each(waiting)(
    '$name: one that turns hostile while it is waited for -> timed-out',
    async (row) => {
      let reads = 0;
      const clock = faultClock();
      const turning = new Proxy(
        thenable(() => undefined),
        {
          getPrototypeOf: () => {
            if (reads++ > 0) throw boom();
            return Object.prototype;
          },
        },
      );
      const { dispatch } = bench(row, () => turning, { clock });
      const ended: LabOutcome[] = [];
      void dispatch().then((outcome) => ended.push(outcome));
      await settleAll();
      expect(() => clock.advance(budgetMs)).not.toThrow(); // else the timer ends the process
      await settleAll();
      expect(ended.map((outcome) => failuresOf(outcome).map(({ kind }) => kind))).toEqual([
        ['timed-out'],
      ]);
    },
  );
});
