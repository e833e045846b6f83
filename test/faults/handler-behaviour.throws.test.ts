import { describe, expect, it } from 'vitest';
import { allow, cancel, type HandlerClass, select } from '../../src/kernel/internal.js';
import { afterFailure, bench, combinations, failuresOf } from '../support/faults.js';
import { faultClock, settleAll } from '../support/faults-clock.js';

const hostileError = (): Error => {
  const error = new Error('unreadable');
  Object.defineProperty(error, 'message', {
    get: () => {
      throw new Error('not for you');
    },
  });
  return error;
};

const wrongMessage = (message: unknown): Error =>
  Object.defineProperty(new Error('replaced'), 'message', { value: message });

const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

/** What is thrown, and the text that the host may show of it. */
const thrown: readonly (readonly [name: string, make: () => unknown, text: string | RegExp])[] = [
  ['an Error', () => new Error('boom'), 'boom'],
  ['an Error of another name', () => new TypeError('boom'), 'TypeError: boom'],
  ['a string', () => 'boom', 'boom'],
  ['null', () => null, 'null'],
  ['undefined', () => undefined, 'undefined'],
  ['a symbol', () => Symbol('boom'), 'Symbol(boom)'],
  ['many lines', () => new Error('a\nb\r\n\u2028c\u0000\u001b[31m'), /^a b c \[31m$/],
  ['a text of 1 MB', () => new Error('x'.repeat(1_000_000)), /^x{299}…$/],
  [
    'an object whose toString throws',
    () => ({
      toString: () => {
        throw new Error('no');
      },
    }),
    'something that cannot be read',
  ],
  ['an object without a prototype', () => Object.create(null), 'something that cannot be read'],
  ['an Error whose message throws', hostileError, 'something that cannot be read'],
  ['an Error whose message is a number', () => wrongMessage(42), /./],
  ['an Error whose message is a symbol', () => wrongMessage(Symbol('m')), /./],
  ['a revoked proxy', revoked, 'something that cannot be read'],
];

/** Each value on one row. On the others an ordinary error, and one that nobody can read. */
const thrownOn = (row: (typeof combinations)[number]) =>
  row === combinations[0]
    ? thrown
    : thrown.filter(([name]) => name === 'an Error' || name === 'an Error whose message throws');

describe('fault 1: a handler throws -> typed failure, one bounded line, by policy', () => {
  describe.each(combinations)('$name', (row) => {
    it.each(thrownOn(row))('%s', async (_name, make, text) => {
      const { next, kernel, dispatch } = bench(row, () => {
        throw make();
      });
      const outcome = await dispatch();
      const [failure, ...more] = failuresOf(outcome);

      expect(more).toEqual([]);
      expect(failure).toMatchObject({ kind: 'threw', contributionId: 'one', policy: row.effect });
      expect(failure?.error).toBeInstanceOf(Error); // §5.3
      expect(failure?.message).toMatch(text);
      expect(failure?.message.length).toBeLessThanOrEqual(300);
      expect(failure?.message).not.toMatch(/[\p{Cc}\u2028]/u);
      expect({ next: next.length, status: outcome.status }).toEqual(afterFailure(row));
      const { failedOpen, failedClosed } = kernel.stats();
      expect(row.effect === 'open' ? failedOpen : failedClosed).toBeGreaterThanOrEqual(1);
    });

    const rejecting = row.mode === 'sync-sequential' ? [] : thrownOn(row); // there a promise is refused: fault 6
    it.each(rejecting)('rejects with %s', async (_name, make) => {
      const { next, dispatch } = bench(row, () => Promise.reject(make()), {
        clock: faultClock(),
      });
      let outcome: Awaited<ReturnType<typeof dispatch>> | undefined;
      void dispatch().then((value) => {
        outcome = value;
      });
      await settleAll();

      expect(outcome, 'the dispatch has ended').toBeDefined();
      if (outcome === undefined) return;
      expect(failuresOf(outcome)).toMatchObject([{ kind: 'threw', policy: row.effect }]);
      expect({ next: next.length, status: outcome.status }).toEqual(afterFailure(row));
    });
  });

  it('the handlers that a closed failure left out are in `skipped` (§5.4)', async () => {
    const row = combinations.find(({ name }) => name === 'mutator on sequential, closed');
    if (row === undefined) throw new Error('no such combination');
    const { dispatch } = bench(row, () => {
      throw new Error('boom');
    });
    const { skipped } = await dispatch();
    expect(skipped).toEqual([{ extensionId: 'next', contributionId: 'one', why: 'after-failure' }]);
  });
});

/** What a class must not return, with a key that the failure has to name. */
const wrongOutput: Readonly<
  Record<HandlerClass, readonly (readonly [name: string, result: unknown, named: RegExp])[]>
> = {
  observer: [
    ['a patch', { content: 'x' }, /observer.*"content"/],
    ['a cancel', cancel('policy'), /observer.*"kind"/],
    ['a number', 1, /observer.*number/],
    ['an empty object', {}, /observer.*object/],
  ],
  augmenter: [
    ['a patch', { content: 'x' }, /annotations.*"content"/],
    ['a cancel', cancel('policy'), /annotations.*"kind"/],
    ['a text', 'x', /augmenter.*string/],
    ['an array', [{ notes: [] }], /annotations.*("0"|plain object)/],
    ['a function', () => ({}), /augmenter.*function/],
  ],
  mutator: [
    ['annotations', { notes: ['x'] }, /patch.*"notes"/],
    ['a selection', select({ to: 'x' }), /patch.*"kind"/],
    ['one good and one bad field', { content: 'x', flag: 'yes' }, /patch.*"flag"/],
    ['a Map', new Map([['content', 'x']]), /patch.*plain object/],
    ['a text', 'x', /mutator.*string/],
  ],
  veto: [
    ['a route', select({ to: 'x' }), /veto.*"kind", "target"/],
    ['a patch', { content: 'x' }, /veto.*"content"/],
    ['true', true, /veto.*boolean/],
    ['the word cancel', 'cancel', /veto.*string/],
  ],
  resolver: [
    ['a bare target', { to: 'x' }, /resolver.*"to"/],
    ['a cancel', cancel('policy'), /resolver.*"kind"/],
    ['an allow', allow(), /resolver.*"kind"/],
    ['a good and a bad one', [select({ to: 'x' }), { to: 'y' }], /resolver.*"to"/],
    ['a rank that is no number', [{ ...select({ to: 'x' }), rank: Number.NaN }], /rank/],
  ],
};

describe('fault 8: output of another class -> bad-output naming class and key, nothing applied', () => {
  describe.each(combinations)('$name', (row) => {
    it.each(wrongOutput[row.class])('%s', async (_name, result, named) => {
      const { next, dispatch } = bench(row, () => result);
      const outcome = await dispatch();

      const [failure, ...more] = failuresOf(outcome);
      expect(more).toEqual([]);
      expect(failure).toMatchObject({ kind: 'bad-output', policy: row.effect }); // §3.2
      expect(failure?.message).toMatch(named);
      expect(outcome.payload).toBe(outcome.event['payload']);
      expect(outcome.annotations).toEqual({});
      expect(outcome.candidates).toEqual([]);
      expect(outcome.selection).toBeUndefined();
      expect(outcome.changes).toEqual([]);
      expect({ next: next.length, status: outcome.status }).toEqual(afterFailure(row));
    });
  });

  it('null and undefined are nothing, for every class but a fail-closed veto (§3.2, §8.4)', async () => {
    for (const row of combinations)
      for (const nothing of [null, undefined]) {
        const outcome = await bench(row, () => nothing).dispatch();
        const strict = row.class === 'veto' && row.policy !== 'open';
        expect(failuresOf(outcome), row.name).toHaveLength(strict ? 1 : 0);
      }
  });
});
