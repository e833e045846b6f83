import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allow, cancel, select } from '../../src/kernel/internal.js';
import { budgetMs, faultSample, faultStage } from '../support/faults.js';
import { faultClock, settleAll } from '../support/faults-clock.js';
import {
  type LabContribution,
  type LabKernel,
  type LabOutcome,
  labKernel,
} from '../support/kernel-lab.js';

const modes = ['sequential', 'sync-sequential'] as const;

/** Contributes in run order, whatever the names. */
function inOrder(kernel: LabKernel, list: readonly Omit<LabContribution, 'family'>[]): void {
  for (const [i, one] of list.entries())
    kernel.contribute({ family: 'fault.stage', priority: -i, ...one });
}

describe.each(modes)('fault 24: the veto on %s', (mode) => {
  const stage = faultStage({ mode });
  const noBad = { class: 'veto', id: 'no-bad' } as const;
  const judge: LabContribution['handler'] = ({ payload }) =>
    String(payload['content']).includes('bad') ? cancel('policy') : allow();
  const write = (content: string) => ({
    class: 'mutator' as const,
    id: `write-${content}`,
    handler: () => ({ content }),
  });

  it.each([
    ['a patch after it makes it bad', [{ ...noBad, handler: judge }, write('bad')], 'cancelled'],
    ['a patch before it', [write('bad'), { ...noBad, handler: judge }], 'cancelled'],
    [
      'what was bad in between is judged as it ends',
      [{ ...noBad, handler: judge }, write('bad'), write('good')],
      'passed',
    ],
    [
      'one that is silent judges again, too',
      [
        {
          ...noBad,
          handler: (call) => {
            const verdict = judge(call, null as never);
            return (verdict as { kind: string }).kind === 'allow' ? undefined : verdict;
          },
        },
        write('bad'),
      ],
      'cancelled',
    ],
  ] satisfies [string, Omit<LabContribution, 'family'>[], string][])(
    'is judged on the final value: %s (§8.3)',
    async (_name, list, status) => {
      const kernel = labKernel([stage]);
      inOrder(kernel, list);
      expect((await kernel.run(stage.family, faultSample())).status).toBe(status);
    },
  );

  it('recheck: false declines, and the outcome says who changed what it had allowed', async () => {
    const kernel = labKernel([stage]);
    inOrder(kernel, [{ ...noBad, handler: judge, recheck: false }, write('bad')]);
    const outcome = await kernel.run(stage.family, faultSample());
    expect(outcome.status).toBe('passed');
    expect(outcome.staleApprovals).toEqual([
      {
        extensionId: 'x',
        contributionId: 'no-bad',
        changedBy: [{ extensionId: 'x', contributionId: 'write-bad' }],
      },
    ]);
  });

  it('P: no later or lower handler, and no error, undoes a cancel (§8.2)', async () => {
    const cancelToo = (): unknown => cancel('other');
    const others = fc.array(
      fc.constantFrom<Omit<LabContribution, 'family' | 'id'>>(
        { class: 'veto', handler: () => allow() },
        { class: 'veto', failClosed: true, handler: () => allow() },
        { class: 'veto', handler: cancelToo },
        { class: 'mutator', handler: () => ({ content: 'good' }) },
        { class: 'resolver', handler: () => select({ to: 'x' }, { explicit: true }) },
        { class: 'augmenter', handler: () => ({ notes: ['x'] }) },
        {
          class: 'observer',
          handler: () => {
            throw new Error('boom');
          },
        },
        {
          class: 'veto',
          failClosed: true,
          handler: () => {
            throw new Error('boom');
          },
        },
      ),
      { maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(others, fc.nat(6), async (list, at) => {
        const kernel = labKernel([stage]);
        // before it may stand what neither cancels nor fails closed
        const before = list
          .slice(0, at)
          .filter(({ failClosed, handler }) => failClosed !== true && handler !== cancelToo);
        const after = list.slice(at);
        const named = [
          ...before,
          { class: 'veto' as const, handler: () => cancel('policy') },
          ...after,
        ];
        inOrder(
          kernel,
          named.map((one, i) => ({ ...one, id: `h${i}` })),
        );
        const outcome = await kernel.run(stage.family, faultSample());
        expect(outcome).toMatchObject({
          status: 'cancelled',
          cancel: { code: 'policy', contributionId: `h${before.length}` },
        });
        expect(
          outcome.skipped.map(({ contributionId, why }) => `${contributionId} ${why}`),
        ).toEqual(after.map((_, i) => `h${before.length + 1 + i} after-cancel`));
      }),
    );
  });

  it('a cancel while it is judged again ends it; the rest does not judge again', async () => {
    const kernel = labKernel([stage]);
    const asked: string[] = [];
    const asking = (id: string): Omit<LabContribution, 'family'> => ({
      class: 'veto',
      id,
      handler: (call, own) => {
        asked.push(id);
        return judge(call, own);
      },
    });
    inOrder(kernel, [asking('one'), asking('two'), write('bad')]);
    const outcome = await kernel.run(stage.family, faultSample());
    expect(outcome.cancel?.contributionId).toBe('one');
    expect(asked).toEqual(['one', 'two', 'one']);
  });
});

describe('fault 24: a cancel and the time', () => {
  it('nothing that ran out of time before undoes it; nothing after it runs', async () => {
    const clock = faultClock();
    const stage = faultStage();
    const kernel = labKernel([stage], { clock });
    const never = () => new Promise(() => undefined);
    let after = 0;
    inOrder(kernel, [
      { class: 'mutator', id: 'hangs', handler: never },
      { class: 'veto', id: 'cancels', handler: () => Promise.resolve(cancel('policy')) },
      {
        class: 'observer',
        id: 'after',
        handler: () => {
          after++;
        },
      },
    ]);
    const ended: LabOutcome[] = [];
    void kernel.dispatch(stage.family, faultSample()).then((outcome) => ended.push(outcome));
    clock.advance(budgetMs);
    await settleAll();
    clock.advance(100 * budgetMs);
    await settleAll();
    expect(ended.map(({ status }) => status)).toEqual(['cancelled']);
    expect(after).toBe(0);
    expect(clock.armed).toBe(0);
  });

  it.each([true, false])(
    'a veto that hangs when it judges again: failClosed %s decides',
    async (failClosed) => {
      const clock = faultClock();
      const stage = faultStage();
      const kernel = labKernel([stage], { clock });
      let asked = 0;
      const handler = () => (asked++ === 0 ? allow() : new Promise(() => undefined));
      inOrder(kernel, [
        { class: 'veto', id: 'slow', failClosed, handler },
        { class: 'mutator', id: 'writes', handler: () => ({ content: 'x' }) },
      ]);
      const ended: LabOutcome[] = [];
      void kernel.dispatch(stage.family, faultSample()).then((outcome) => ended.push(outcome));
      clock.advance(budgetMs);
      await settleAll();
      expect(ended.map(({ status }) => status)).toEqual([failClosed ? 'failed' : 'passed']);
      expect(ended[0]?.failures).toMatchObject([{ kind: 'timed-out', contributionId: 'slow' }]);
    },
  );

  it('the budget spent before a fail-closed veto fails the stage (§10.2)', async () => {
    const clock = faultClock();
    const stage = faultStage({ stageTimeoutMs: 500 });
    const kernel = labKernel([stage], { clock });
    inOrder(kernel, [
      { class: 'observer', id: 'hangs', handler: () => new Promise(() => undefined) },
      { class: 'veto', id: 'strict', failClosed: true, handler: () => allow() },
    ]);
    const ended: LabOutcome[] = [];
    void kernel.dispatch(stage.family, faultSample()).then((outcome) => ended.push(outcome));
    clock.advance(500);
    await settleAll();
    expect(ended[0]?.status).toBe('failed');
    expect(ended[0]?.failures.map(({ kind, policy }) => `${kind} ${policy}`)).toEqual([
      'timed-out open',
      'not-run closed',
    ]);
    expect(ended[0]?.skipped).toMatchObject([{ contributionId: 'strict', why: 'budget-spent' }]);
  });
});
