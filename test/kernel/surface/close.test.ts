import { describe, expect, it } from 'vitest';
import type { CloseReport, Outcome } from '../../../src/kernel/internal.js';
import { contributor, createLab, deferred } from '../../support/kernel-lab.js';
import { labSample } from '../../support/kernel-stages.js';

const never = (): Promise<never> => new Promise(() => undefined);

function watch<T>(running: Promise<T>): { value: T | undefined } {
  const seen: { value: T | undefined } = { value: undefined };
  void running.then((value) => {
    seen.value = value;
  });
  return seen;
}

describe('a closed kernel', () => {
  it('takes no more dispatches, of any mode (§10.7)', async () => {
    const { kernel } = createLab();
    expect(await kernel.close()).toEqual({ drained: true, abandoned: [] });
    const closed = expect.objectContaining({ code: 'kernel-closed' }) as object;
    await expect(kernel.dispatch('lab.sequential', labSample())).rejects.toEqual(closed);
    expect(() => kernel.dispatchSync('lab.sync', labSample())).toThrow(closed);
  });

  it('waits for those in flight (§10.7)', async () => {
    const { kernel, clock } = createLab();
    const gate = deferred();
    contributor(kernel, 'lab.sequential')('observer', 'a', () => gate.promise);
    const running = watch(kernel.dispatch('lab.sequential', labSample()));
    const closing = watch(kernel.close());
    await clock.advance(100);
    expect(closing.value).toBe(undefined);
    gate.resolve();
    await clock.advance(0);
    expect(running.value?.status).toBe('passed');
    expect(closing.value).toEqual({ drained: true, abandoned: [] });
  });

  it('waits until the last handler of those in flight has settled (§10.7)', async () => {
    const { kernel, clock } = createLab();
    const gates = [deferred(), deferred()] as const;
    const add = contributor(kernel, 'lab.sequential');
    add('observer', 'a', () => gates[0].promise);
    add('observer', 'b', () => gates[1].promise);
    const running = watch(kernel.dispatch('lab.sequential', labSample()));
    const closing = watch(kernel.close());
    await clock.advance(0);
    gates[0].resolve();
    await clock.advance(0);
    expect([closing.value, running.value]).toEqual([undefined, undefined]);
    gates[1].resolve();
    await clock.advance(0);
    expect(running.value?.status).toBe('passed');
    expect(closing.value?.drained).toBe(true);
  });

  it('still keeps the budgets of those in flight (§10.2, §10.7)', async () => {
    const { kernel, clock } = createLab();
    const gate = deferred();
    const add = contributor(kernel, 'lab.sequential');
    add('observer', 'a', () => gate.promise);
    add('observer', 'b', never);
    const running = watch(kernel.dispatch('lab.sequential', labSample()));
    const closing = watch(kernel.close());
    gate.resolve();
    await clock.advance(400);
    expect(running.value?.failures.map(({ kind }) => kind)).toEqual(['timed-out']);
    expect(closing.value?.drained).toBe(true);
  });

  it('aborts them when its time is up, and names them (§10.7)', async () => {
    const { kernel, clock } = createLab();
    for (const family of ['lab.sequential', 'lab.parallel'])
      contributor(kernel, family)('observer', family, never, { timeoutMs: 50_000 });
    const outcomes = ['lab.sequential', 'lab.parallel'].map((family) =>
      watch(kernel.dispatch(family, labSample())),
    );
    const closing = watch(kernel.close({ timeoutMs: 300 }));
    await clock.advance(299);
    expect(closing.value).toBe(undefined);
    await clock.advance(1);
    expect(outcomes.map(({ value }) => value?.status)).toEqual(['failed', 'failed']);
    expect(closing.value?.drained).toBe(false);
    expect([...(closing.value?.abandoned ?? [])].sort()).toEqual([
      'lab.parallel',
      'lab.sequential',
    ]);
    expect(kernel.stats().waiting).toBe(0);
    expect(kernel.stats().stillRunning).toHaveLength(2);
  });

  it('aborts each of them, also where aborting one aborts another (§10.6, §10.7)', async () => {
    const { kernel, clock } = createLab();
    const options = { timeoutMs: 50_000 };
    contributor(kernel, 'lab.parallel')('observer', 'old', never, options);
    contributor(kernel, 'lab.sibling')('observer', 'inner', never, options);
    let inner: Promise<Outcome> | undefined;
    contributor(kernel, 'lab.sequential')(
      'observer',
      'outer',
      (call) => {
        inner = kernel.dispatch('lab.sibling', labSample(), { signal: call.signal });
        return never();
      },
      options,
    );
    const old = watch(kernel.dispatch('lab.parallel', labSample()));
    const outer = watch(kernel.dispatch('lab.sequential', labSample()));
    const linked = watch(inner ?? never());
    const closing: { value: CloseReport | undefined } = watch(kernel.close({ timeoutMs: 10 }));
    await clock.advance(10);
    expect([outer, linked, old].map(({ value }) => value?.status)).toEqual([
      'failed',
      'failed',
      'failed',
    ]);
    expect(closing.value?.abandoned).toContain('lab.parallel');
  });

  it('lets what is in flight dispatch from inside (§10.5, §10.7)', async () => {
    const { kernel, clock } = createLab();
    const gate = deferred();
    let inner: Outcome | undefined;
    contributor(kernel, 'lab.sequential')('observer', 'a', async (call, own) => {
      await gate.promise;
      inner = await own.dispatch(call, 'lab.sibling', labSample());
    });
    const running = kernel.dispatch('lab.sequential', labSample());
    const closing = kernel.close();
    gate.resolve();
    await clock.advance(0);
    expect([(await running).status, inner?.status]).toEqual(['passed', 'passed']);
    expect((await closing).drained).toBe(true);
  });

  it('leaves no timer behind (§10.7)', async () => {
    const { kernel, clock } = createLab();
    contributor(kernel, 'lab.sequential')('observer', 'a', async () => undefined);
    await kernel.dispatch('lab.sequential', labSample());
    await kernel.close();
    expect(clock.pending).toBe(0);
  });

  it('may be closed twice (§10.7)', async () => {
    const { kernel } = createLab();
    const reports = await Promise.all([kernel.close(), kernel.close()]);
    expect(reports.map(({ drained }) => drained)).toEqual([true, true]);
  });
});
