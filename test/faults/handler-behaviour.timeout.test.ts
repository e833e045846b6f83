import { describe, expect, it } from 'vitest';
import { cancel, type Late, type SluiceError } from '../../src/kernel/internal.js';
import {
  afterFailure,
  bench,
  budgetMs,
  type Combination,
  combinations,
  failuresOf,
} from '../support/faults.js';
import { deferred, faultClock, settleAll } from '../support/faults-clock.js';
import type { LabCall, LabOutcome, LabOwn } from '../support/kernel-lab.js';

const waiting = combinations.filter(({ mode }) => mode !== 'sync-sequential');

/** A dispatch whose faulty handler waits for a promise that the test holds. */
function stuck(row: Combination, handler?: (call: LabCall, own: LabOwn) => unknown) {
  const clock = faultClock();
  const late: Late[] = [];
  const settled = deferred();
  const calls: LabCall[] = [];
  const owns: LabOwn[] = [];
  const made = bench(
    row,
    (call, own) => {
      calls.push(call);
      owns.push(own);
      return handler === undefined ? settled.promise : handler(call, own);
    },
    { clock, tap: { late: (one) => late.push(one) } },
  );
  const ended: LabOutcome[] = [];
  void made.dispatch().then((outcome) => ended.push(outcome));
  return { ...made, clock, late, calls, owns, ended, settle: settled };
}

describe('fault 2: a promise that never settles -> timed-out at its budget, to the tick', () => {
  it.each(waiting)('$name', async (row) => {
    const { clock, calls, ended, kernel, next, family } = stuck(row);
    const signal = calls[0]?.signal;

    clock.advance(budgetMs - 1);
    await settleAll();
    expect(ended).toEqual([]);
    expect(signal?.aborted).toBe(false);
    expect(kernel.stats().waiting).toBe(1);

    clock.advance(1); // §10.2
    await settleAll();
    const [outcome] = ended;
    if (outcome === undefined) throw new Error('the dispatch has not ended');
    expect(failuresOf(outcome)).toMatchObject([{ kind: 'timed-out', policy: row.effect }]);
    expect({ next: next.length, status: outcome.status }).toEqual(afterFailure(row));
    expect(signal?.aborted).toBe(true);
    expect(signal?.reason).toBeInstanceOf(Error);
    expect(kernel.stats()).toMatchObject({
      waiting: 0,
      stillRunning: [{ extensionId: 'faulty', contributionId: 'one', family, sinceMs: budgetMs }],
    }); // §12.4
  });

  it('a signal that is first read afterwards is aborted already (§10.4)', async () => {
    for (const row of waiting) {
      const { clock, calls } = stuck(row);
      clock.advance(budgetMs);
      await settleAll();
      expect(calls[0]?.signal.aborted, row.name).toBe(true);
    }
  });

  it('no timer stays armed for a dispatch that ended (§10.3)', async () => {
    const row = waiting.find(({ name }) => name === 'observer on parallel, open');
    if (row === undefined) throw new Error('no such combination');
    const { clock, kernel } = stuck(row);
    clock.advance(budgetMs);
    await settleAll();
    expect(clock.armed).toBe(0);
    expect((await kernel.close()).drained).toBe(true);
  });
});

describe('fault 3: it settles after its time -> ignored and counted', () => {
  it.each(waiting)('$name, fulfilled', async (row) => {
    const { clock, settle, ended, kernel, late } = stuck(row);
    clock.advance(budgetMs);
    await settleAll();
    const before = JSON.stringify(ended[0]);

    settle.resolve(row.class === 'veto' ? cancel('policy') : { content: 'too late' });
    await settleAll();
    expect(kernel.stats()).toMatchObject({ late: 1, stillRunning: [] }); // §5.6
    expect(late).toMatchObject([{ extensionId: 'faulty', settled: 'fulfilled' }]);
    expect(JSON.stringify(ended[0])).toBe(before);
  });

  it.each(waiting)('$name, rejected', async (row) => {
    const { clock, settle, ended, kernel, late } = stuck(row);
    clock.advance(budgetMs);
    await settleAll();
    const before = JSON.stringify(ended[0]);

    const reason = new Error('too late');
    settle.reject(reason);
    await settleAll();
    expect(kernel.stats()).toMatchObject({ late: 1, stillRunning: [] });
    expect(late).toMatchObject([{ settled: 'rejected', error: reason }]);
    expect(JSON.stringify(ended[0])).toBe(before);
  });
});

describe('fault 9: own.dispatch after the end -> call-inactive', () => {
  const codeOf = (act: () => unknown): string => {
    try {
      act();
    } catch (error) {
      return (error as SluiceError).code;
    }
    return 'nothing was thrown';
  };

  it.each(combinations)('$name, once its stage has ended', async (row) => {
    const kept: [LabCall, LabOwn][] = [];
    const { dispatch, family, kernel } = bench(row, (call, own) => {
      kept.push([call, own]);
    });
    await dispatch();
    const { dispatches } = kernel.stats();
    const [call, own] = kept[0] ?? [];
    expect(codeOf(() => call && own?.dispatch(call, family, {}))).toBe('call-inactive'); // §10.5
    expect(kernel.stats().dispatches).toBe(dispatches);
  });

  it.each(waiting)('$name, once its handler was given up', async (row) => {
    const { clock, calls, owns, family } = stuck(row);
    clock.advance(budgetMs);
    await settleAll();
    const [call] = calls;
    const [own] = owns;
    expect(codeOf(() => call && own?.dispatch(call, family, {}))).toBe('call-inactive');
  });

  it('another value than a call is foreign-call, however it looks (§10.5)', async () => {
    const row = combinations[0];
    if (row === undefined) throw new Error('no combinations');
    const codes: string[] = [];
    const { dispatch, family } = bench(row, (call, own) => {
      const copies: unknown[] = [{ ...call }, Object.create(call), new Proxy(call, {}), null, 1];
      for (const copy of copies)
        codes.push(codeOf(() => own.dispatch(copy as LabCall, family, {})));
    });
    await dispatch();
    expect(codes).toEqual(Array.from({ length: 5 }, () => 'foreign-call'));
  });
});
