import { describe, expect, it } from 'vitest';
import { contributor, createLab, type LabKernel } from '../../support/kernel-lab.js';
import { labSample } from '../../support/kernel-stages.js';

const nothing = (): undefined => undefined;

function fill(kernel: LabKernel, family: string, count: number, from = 0): void {
  const add = contributor(kernel, family);
  for (let i = from; i < from + count; i++)
    add('observer', `${family}-${(i * 7919) % 100_003}`, nothing, { priority: (i * 31) % 17 });
}

describe('what a dispatch costs, in steps', () => {
  it('plans are made when contributions change, not on dispatch (§4.5)', () => {
    const { kernel } = createLab();
    fill(kernel, 'lab.sync', 50);
    kernel.dispatchSync('lab.sync', labSample());
    const { plansBuilt, comparisons } = kernel.stats();
    expect(plansBuilt).toBe(1);
    for (let i = 0; i < 20; i++) kernel.dispatchSync('lab.sync', labSample());
    kernel.plan('lab.sync');
    kernel.has('lab.sync');
    expect(kernel.stats()).toMatchObject({ plansBuilt, comparisons });
    fill(kernel, 'lab.sync', 1, 50);
    kernel.dispatchSync('lab.sync', labSample());
    expect(kernel.stats().plansBuilt).toBe(2);
  });

  it('many registrations make one plan (§4.5)', () => {
    const { kernel } = createLab();
    fill(kernel, 'lab.sync', 2_000);
    expect(kernel.stats()).toMatchObject({ plansBuilt: 0, comparisons: 0 });
    kernel.dispatchSync('lab.sync', labSample());
    expect(kernel.stats().plansBuilt).toBe(1);
  });

  it('what is registered elsewhere does not touch a family’s plan (§4.5)', () => {
    const { kernel } = createLab();
    fill(kernel, 'lab.sync', 10);
    kernel.dispatchSync('lab.sync', labSample());
    const before = kernel.stats();
    fill(kernel, 'lab.sequential', 500);
    kernel.dispatchSync('lab.sync', labSample());
    expect(kernel.stats()).toMatchObject({
      plansBuilt: before.plansBuilt,
      comparisons: before.comparisons,
      handlerCalls: before.handlerCalls + 10,
    });
  });

  it.each([10, 100, 1_000, 10_000])(
    'sorting %i handlers takes O(n log n) comparisons (§4.5)',
    (count) => {
      const { kernel } = createLab({ limits: { warnAt: 50_000, refuseAt: 50_000 } });
      fill(kernel, 'lab.sync', count);
      kernel.dispatchSync('lab.sync', labSample());
      expect(kernel.stats().comparisons).toBeLessThanOrEqual(
        count * Math.ceil(Math.log2(count)) + count,
      );
    },
  );

  it.each(['borders', 'always'] as const)(
    'a payload is frozen once, however many handlers there are, with validate: %s (§1.5)',
    (validate) => {
      for (const count of [1, 30]) {
        const { kernel } = createLab({ validate });
        fill(kernel, 'lab.sync', count);
        kernel.dispatchSync('lab.sync', labSample());
        expect(kernel.stats()).toMatchObject({ payloadsFrozen: 1, handlerCalls: count });
      }
    },
  );

  it('with no handler and no tap nothing is frozen, made or called (§1.5)', async () => {
    const { kernel } = createLab();
    kernel.dispatchSync('lab.sync', labSample());
    await kernel.dispatch('lab.parallel', labSample());
    expect(kernel.stats()).toMatchObject({
      dispatches: 2,
      passed: 2,
      payloadsFrozen: 0,
      envelopesMade: 0,
      handlerCalls: 0,
      comparisons: 0,
    });
  });

  it('an envelope is made when it is first read, and once (§1.2)', () => {
    const { kernel } = createLab();
    const add = contributor(kernel, 'lab.sync');
    add('mutator', 'm', ({ payload }) => ({ outro: String(payload['title']) }));
    add('veto', 'v', nothing);
    const outcome = kernel.dispatchSync('lab.sync', labSample());
    expect([outcome.status, outcome.changes.length]).toEqual(['passed', 1]);
    expect(kernel.stats().envelopesMade).toBe(0);
    expect(outcome.event).toBe(outcome.event);
    expect(kernel.stats().envelopesMade).toBe(1);
  });

  it('handlers are called once each, and those that judge again once more (§8.3, §12.4)', () => {
    const { kernel } = createLab();
    const add = contributor(kernel, 'lab.sync');
    add('veto', 'a', nothing);
    add('veto', 'b', nothing);
    add('mutator', 'm', () => ({ title: 'new' }));
    add('observer', 'o', nothing);
    kernel.dispatchSync('lab.sync', labSample());
    expect(kernel.stats().handlerCalls).toBe(6);
  });

  it('handlers that are not called are not counted (§12.4)', () => {
    const { kernel } = createLab();
    const calls: string[] = [];
    const add = contributor(kernel, 'lab.sync');
    const judge =
      (id: string) =>
      ({ payload }: { payload: Readonly<Record<string, unknown>> }) => {
        calls.push(id);
        return payload['title'] === 'bad' ? { kind: 'cancel', code: 'policy' } : { kind: 'allow' };
      };
    add('veto', 'a', judge('a'));
    add('veto', 'b', judge('b'));
    add('mutator', 'm', () => {
      calls.push('m');
      return { title: 'bad' };
    });
    expect(kernel.dispatchSync('lab.sync', labSample()).status).toBe('cancelled');
    expect(calls).toEqual(['a', 'b', 'm', 'a']);
    expect(kernel.stats().handlerCalls).toBe(calls.length);
  });

  it('every dispatch that is counted has a status (§12.4)', () => {
    const { kernel } = createLab();
    fill(kernel, 'lab.sync', 1);
    expect(() => kernel.dispatchSync('lab.sync', labSample({ body: new Date(0) }))).toThrow();
    kernel.dispatchSync('lab.sync', labSample());
    const { dispatches, passed, cancelled, failed } = kernel.stats();
    expect(dispatches).toBe(passed + cancelled + failed);
  });
});
