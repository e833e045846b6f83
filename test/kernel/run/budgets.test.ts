import { describe, expect, it } from 'vitest';
import type { Late, Outcome } from '../../../src/kernel/internal.js';
import { allow, cancel, select } from '../../../src/kernel/internal.js';
import {
  byName,
  contributor,
  createLab,
  deferred,
  type LabCall,
} from '../../support/kernel-lab.js';
import { labSample } from '../../support/kernel-stages.js';

// the lab's stages: 400 ms for a handler, 1000 ms for a dispatch

const never = (): Promise<never> => new Promise(() => undefined);
const nothing = (): undefined => undefined;

/** A promise with what it came to, so that a test can ask without waiting. */
function watch(running: Promise<Outcome>): { outcome: Outcome | undefined } {
  const seen: { outcome: Outcome | undefined } = { outcome: undefined };
  void running.then((outcome) => {
    seen.outcome = outcome;
  });
  return seen;
}

const kinds = (outcome: Outcome | undefined): string[] =>
  (outcome?.failures ?? []).map((one) => `${byName(one)} ${one.kind} ${one.policy}`);

describe('one handler’s budget', () => {
  it.each(['lab.sequential', 'lab.parallel'])(
    'is the stage’s where it has none of its own, to the millisecond, on %s (§10.1, §10.2)',
    async (family) => {
      const { kernel, clock } = createLab();
      const add = contributor(kernel, family);
      add('observer', 'a', never);
      add('observer', 'b', nothing);
      const seen = watch(kernel.dispatch(family, labSample()));
      await clock.advance(399);
      expect([seen.outcome, kernel.stats().waiting]).toEqual([undefined, 1]);
      await clock.advance(1);
      expect(seen.outcome?.status).toBe('passed');
      expect(kinds(seen.outcome)).toEqual(['x/a timed-out open']);
      expect(kernel.stats().waiting).toBe(0);
    },
  );

  it('is its own where it says so, and the operator’s beats both (§10.1, §12.1)', async () => {
    const { kernel, clock } = createLab({ overrides: { 'x/b': { timeoutMs: 20 } } });
    const add = contributor(kernel, 'lab.parallel');
    add('observer', 'a', never, { timeoutMs: 50 });
    add('observer', 'b', never, { timeoutMs: 5_000 });
    const order: string[] = [];
    for (const { contributionId, timeoutMs } of kernel.plan('lab.parallel'))
      order.push(`${contributionId} ${timeoutMs}`);
    expect(order).toEqual(['a 50', 'b 20']);
    const seen = watch(kernel.dispatch('lab.parallel', labSample()));
    await clock.advance(50);
    expect(kinds(seen.outcome).sort()).toEqual(['x/a timed-out open', 'x/b timed-out open']);
  });

  it('aborts its signal, and no other’s (§10.2, §10.4)', async () => {
    const { kernel, clock } = createLab();
    const add = contributor(kernel, 'lab.parallel');
    const signals: AbortSignal[] = [];
    const keep = (call: LabCall): Promise<never> => {
      signals.push(call.signal);
      return never();
    };
    add('observer', 'a', keep, { timeoutMs: 10 });
    add('observer', 'b', keep, { timeoutMs: 20 });
    void kernel.dispatch('lab.parallel', labSample());
    await clock.advance(10);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    await clock.advance(10);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  it('shows in a signal that is first read after it was spent (§10.4)', async () => {
    const { kernel, clock } = createLab();
    const gate = deferred();
    let aborted: boolean | undefined;
    contributor(kernel, 'lab.sequential')('observer', 'a', async (call) => {
      await gate.promise;
      aborted = call.signal.aborted;
    });
    const running = kernel.dispatch('lab.sequential', labSample());
    await clock.advance(400);
    await running;
    gate.resolve();
    await clock.advance(0);
    expect(aborted).toBe(true);
  });

  it('fails the stage where its policy is closed (§10.2)', async () => {
    const { kernel, clock } = createLab();
    const add = contributor(kernel, 'lab.sequential');
    add('veto', 'a', never, { failClosed: true });
    add('observer', 'b', nothing);
    const seen = watch(kernel.dispatch('lab.sequential', labSample()));
    await clock.advance(400);
    expect(seen.outcome?.status).toBe('failed');
    expect(seen.outcome?.skipped.map(({ why }) => why)).toEqual(['after-failure']);
  });

  it('a result that comes after it is dropped, counted and told; until then it is running (§5.6, §12.4)', async () => {
    const late: Late[] = [];
    const { kernel, clock } = createLab({ tap: { late: (one) => late.push(one) } });
    const add = contributor(kernel, 'lab.sequential');
    const gates = [deferred<object>(), deferred<object>()] as const;
    add('mutator', 'a', () => gates[0].promise);
    add('mutator', 'b', () => gates[1].promise);
    const seen = watch(kernel.dispatch('lab.sequential', labSample()));
    await clock.advance(400);
    expect(kernel.stats().stillRunning).toEqual([
      { extensionId: 'x', contributionId: 'a', family: 'lab.sequential', sinceMs: 400 },
    ]);
    gates[0].resolve({ title: 'late' });
    await clock.advance(400);
    gates[1].reject(new Error('late'));
    await clock.advance(0);
    expect(seen.outcome?.payload).toEqual({ title: 'hello' });
    expect(kinds(seen.outcome)).toEqual(['x/a timed-out open', 'x/b timed-out open']);
    expect(late.map((one) => `${byName(one)} ${one.settled}`)).toEqual([
      'x/a fulfilled',
      'x/b rejected',
    ]);
    expect(kernel.stats()).toMatchObject({ late: 2, stillRunning: [] });
  });
});

describe('the dispatch’s budget', () => {
  it('leaves what has not run as not run, which fails open (§10.2)', async () => {
    const { kernel, clock } = createLab();
    const add = contributor(kernel, 'lab.sequential');
    for (const id of ['a', 'b', 'c']) add('observer', id, never);
    add('mutator', 'd', () => ({ title: 'new' }));
    const seen = watch(kernel.dispatch('lab.sequential', labSample()));
    await clock.advance(999);
    expect(seen.outcome).toBe(undefined);
    await clock.advance(1);
    expect(kinds(seen.outcome)).toEqual([
      'x/a timed-out open',
      'x/b timed-out open',
      'x/c timed-out open',
      'x/d not-run open',
    ]);
    expect(seen.outcome?.status).toBe('passed');
    expect(seen.outcome?.skipped.map((one) => `${byName(one)} ${one.why}`)).toEqual([
      'x/d budget-spent',
    ]);
  });

  const spend = (add: ReturnType<typeof contributor>): void => {
    for (const id of ['s1', 's2', 's3']) add('observer', id, never, { priority: -1 });
  };

  it('fails the stage where a fail-closed veto has not run (§10.2)', async () => {
    const { kernel, clock } = createLab();
    const add = contributor(kernel, 'lab.sequential');
    spend(add);
    add('veto', 'v', () => allow(), { failClosed: true, priority: -2 });
    const seen = watch(kernel.dispatch('lab.sequential', labSample()));
    await clock.advance(1_000);
    expect(seen.outcome?.status).toBe('failed');
    expect(kinds(seen.outcome).at(-1)).toBe('x/v not-run closed');
  });

  it('does not let pass what a fail-closed veto could not judge again (§8.3, §10.2)', async () => {
    const { kernel, clock } = createLab();
    const add = contributor(kernel, 'lab.sequential');
    const judge = ({ payload }: LabCall): unknown =>
      payload['title'] === 'bad' ? cancel('policy') : allow();
    add('veto', 'v', judge, { failClosed: true, priority: 2 });
    add('mutator', 'm', () => ({ title: 'bad' }), { priority: 1 });
    spend(add);
    const seen = watch(kernel.dispatch('lab.sequential', labSample()));
    await clock.advance(1_000);
    expect(seen.outcome?.payload).toEqual({ title: 'bad' });
    expect(seen.outcome?.status).not.toBe('passed');
  });

  it('names a veto that could not judge again what changed, also where it fails open (§8.3, §10.2)', async () => {
    const { kernel, clock } = createLab();
    const add = contributor(kernel, 'lab.sequential');
    const judge = ({ payload }: LabCall): unknown =>
      payload['title'] === 'bad' ? cancel('policy') : allow();
    add('veto', 'v', judge, { priority: 2 });
    add('mutator', 'm', () => ({ title: 'bad' }), { priority: 1 });
    spend(add);
    const seen = watch(kernel.dispatch('lab.sequential', labSample()));
    await clock.advance(1_000);
    const named = [...(seen.outcome?.failures ?? []), ...(seen.outcome?.staleApprovals ?? [])];
    const cancelled = seen.outcome?.status === 'cancelled';
    expect(cancelled || named.some((one) => one.contributionId === 'v')).toBe(true);
  });

  it('does not let a closed stage pass without a candidate (§9.4, §10.2)', async () => {
    const { kernel, clock } = createLab();
    const add = contributor(kernel, 'lab.sequential-closed');
    for (const id of ['a', 'b', 'c']) add('resolver', id, never);
    add('resolver', 'd', () => select({ to: 'd' }));
    const seen = watch(kernel.dispatch('lab.sequential-closed', labSample()));
    await clock.advance(1_000);
    expect(seen.outcome?.selection).toBe(undefined);
    expect(seen.outcome?.status).toBe('failed');
  });

  it('is longer by a handler’s own (§10.1)', async () => {
    const { kernel, clock } = createLab();
    const add = contributor(kernel, 'lab.sequential');
    add('observer', 'approval', never, { timeoutMs: 60_000, priority: 1 });
    add('observer', 'after', nothing);
    const seen = watch(kernel.dispatch('lab.sequential', labSample()));
    await clock.advance(59_999);
    expect(seen.outcome).toBe(undefined);
    await clock.advance(1);
    expect(kinds(seen.outcome)).toEqual(['x/approval timed-out open']);
  });

  it('ends all observers of a parallel stage at once (§4.2, §10.2)', async () => {
    const { kernel, clock } = createLab();
    const add = contributor(kernel, 'lab.parallel');
    add('observer', 'a', never);
    add('observer', 'b', never, { timeoutMs: 3_000 });
    const seen = watch(kernel.dispatch('lab.parallel', labSample()));
    await clock.advance(2_999);
    expect(seen.outcome).toBe(undefined);
    await clock.advance(1);
    expect(kinds(seen.outcome)).toEqual(['x/a timed-out open', 'x/b timed-out open']);
  });

  it('is counted from the first time it waits (§10.3)', async () => {
    const { kernel, clock } = createLab();
    const add = contributor(kernel, 'lab.sequential');
    add('observer', 'a', nothing);
    const seen = watch(kernel.dispatch('lab.sequential', labSample()));
    await clock.advance(0);
    expect(seen.outcome?.status).toBe('passed');
    expect(clock.pending).toBe(0);
  });

  it('leaves no timer that is due once all have settled in time (§10.3)', async () => {
    const { kernel, clock } = createLab();
    contributor(kernel, 'lab.sequential')('observer', 'a', async () => undefined);
    for (let i = 0; i < 5; i++) await kernel.dispatch('lab.sequential', labSample());
    expect(clock.pending).toBeLessThanOrEqual(1);
    await clock.advance(60_000);
    expect(clock.pending).toBe(0);
  });
});
