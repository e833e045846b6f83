import { describe, expect, it } from 'vitest';
import { type HandlerClass, select } from '../../../src/kernel/internal.js';
import { byName, contributor, createLab, type LabHandler } from '../../support/kernel-lab.js';
import { labSample } from '../../support/kernel-stages.js';

type Guard = Exclude<HandlerClass, 'observer'>;

const guards: readonly Guard[] = ['augmenter', 'mutator', 'veto', 'resolver'];
const hangs: LabHandler = () => new Promise(() => undefined);
/** Each way in which a handler does not do its work, with the kind of its failure. */
const faults: readonly (readonly [name: string, handler: LabHandler, kind: string])[] = [
  [
    'throws',
    () => {
      throw new Error('the list is gone');
    },
    'threw',
  ],
  ['rejects', () => Promise.reject(new Error('the list is gone')), 'threw'],
  ['never settles', hangs, 'timed-out'],
  ['returns what cannot be used', () => 'nonsense', 'bad-output'],
  ['returns it later', async () => 5, 'bad-output'],
];
const cells = guards.flatMap((one) =>
  faults.map(([does, handler, kind]) => ({ class: one, does, handler, kind })),
);

/** A dispatch beside one guard, and whether the observer after it was called. */
async function judged(name: Guard, handler: LabHandler, failClosed: boolean) {
  const { kernel, clock } = createLab();
  const add = contributor(kernel, 'lab.sequential');
  let isReached = false;
  add(name, 'guard', handler, { failClosed, priority: 5 });
  add('observer', 'after', () => {
    isReached = true;
  });
  const running = kernel.dispatch('lab.sequential', labSample());
  await clock.advance(400); // the budget of a handler
  const outcome = await running;
  const told = outcome.failures.map((one) => `${byName(one)} ${one.kind} ${one.policy}`);
  return { status: outcome.status, told, isReached };
}

describe('a handler that is fail-closed', () => {
  it.each(cells)('fails the stage if it is of the class $class and $does (§3.7)', async (cell) => {
    expect(await judged(cell.class, cell.handler, true)).toEqual({
      status: 'failed',
      told: [`x/guard ${cell.kind} closed`],
      isReached: false,
    });
  });

  it.each(cells)('lets it go on if it is not, is a $class and $does (§3.7)', async (cell) => {
    expect(await judged(cell.class, cell.handler, false)).toEqual({
      status: 'passed',
      told: [`x/guard ${cell.kind} open`],
      isReached: true,
    });
  });

  it.each(['augmenter', 'mutator', 'resolver'] as const)(
    'may have nothing to say as %s (§3.7, §8.4)',
    async (name) => {
      const seen = await judged(name, () => undefined, true);
      expect(seen).toEqual({ status: 'passed', told: [], isReached: true });
    },
  );

  it.each(guards)('fails the stage as %s that has no time left (§3.7, §10.2)', async (name) => {
    const { kernel, clock } = createLab();
    const add = contributor(kernel, 'lab.sequential');
    for (const id of ['s1', 's2', 's3']) add('observer', id, hangs, { priority: 5 });
    add(name, 'guard', () => undefined, { failClosed: true });
    const running = kernel.dispatch('lab.sequential', labSample());
    await clock.advance(1_000); // the budget of the stage
    const { status, failures } = await running;
    expect(status).toBe('failed');
    expect(failures.at(-1)).toMatchObject({ contributionId: 'guard', kind: 'not-run' });
  });

  it.each(guards)(
    'fails each stage in quarantine as %s, is tried again, and comes out (§3.7, §12.6)',
    async (name) => {
      const { kernel, clock } = createLab({ quarantine: { failures: 2, coolDownMs: 100 } });
      let calls = 0;
      let isWell = false;
      const well = { augmenter: {}, mutator: {}, veto: { kind: 'allow' }, resolver: undefined };
      const handler: LabHandler = () => {
        calls++;
        if (!isWell) throw new Error('the list is gone');
        return well[name];
      };
      contributor(kernel, 'lab.sequential')(name, 'guard', handler, { failClosed: true });
      const ends = async (): Promise<string> => {
        const { status, failures } = await kernel.dispatch('lab.sequential', labSample());
        return `${status} ${failures[0]?.kind ?? ''}`.trim();
      };
      expect([await ends(), await ends(), await ends()]).toEqual([
        'failed threw',
        'failed threw',
        'failed quarantined',
      ]);
      expect(calls).toBe(2);
      await clock.advance(100);
      isWell = true;
      expect(await ends()).toBe('passed');
      expect(await ends()).toBe('passed');
      expect(calls).toBe(4);
    },
  );

  it.each(guards)('changes nothing as %s that is audited (§3.7, judgement §3)', async (name) => {
    const { kernel } = createLab({ overrides: { 'x/guard': { mode: 'audit' } } });
    const throws: LabHandler = () => {
      throw new Error('the list is gone');
    };
    contributor(kernel, 'lab.sequential')(name, 'guard', throws, { failClosed: true });
    expect((await kernel.dispatch('lab.sequential', labSample())).status).toBe('passed');
  });

  it('fails open if what it judges has happened (§3.7, §11.1)', async () => {
    const { kernel } = createLab();
    const add = contributor(kernel, 'lab.sequential');
    add('mutator', 'guard', () => ({ title: 'changed' }), { failClosed: true });
    const observed = { gate: 'observe-only' } as const;
    const outcome = await kernel.dispatch('lab.sequential', labSample(), observed);
    expect(outcome.status).toBe('passed');
    expect(outcome.failures).toMatchObject([{ kind: 'observe-only', policy: 'open' }]);
  });

  it('fails the stage as a resolver whose target does not fit (§3.7, §9.5)', async () => {
    const seen = await judged('resolver', () => ({ ...select(5), explicit: true }), true);
    expect(seen).toMatchObject({ status: 'failed', told: ['x/guard bad-output closed'] });
    expect((await judged('resolver', () => select(5), false)).status).toBe('passed');
  });

  it('as a mutator that writes to its payload fails the stage (§3.7, §5.7)', async () => {
    const { kernel } = createLab();
    const add = contributor(kernel, 'lab.sequential');
    add('mutator', 'first', () => ({ title: 'one' }), { priority: 9 });
    const writes: LabHandler = ({ payload }) => {
      payload['title'] = 'two';
    };
    add('mutator', 'guard', writes, { failClosed: true });
    const { status, failures } = await kernel.dispatch('lab.sequential', labSample());
    expect(status).toBe('failed');
    expect(failures[0]).toMatchObject({ contributionId: 'guard', policy: 'closed' });
  });
});
