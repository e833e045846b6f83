import { describe, expect, it } from 'vitest';
import { canonicalStages, type SluiceError } from '../../src/kernel/internal.js';
import { faultSample, faultStage } from '../support/faults.js';
import { type LabContribution, type LabKernel, labKernel } from '../support/kernel-lab.js';

const none = (): void => undefined;

function refusal(act: () => unknown): SluiceError {
  try {
    act();
  } catch (error) {
    return error as SluiceError;
  }
  throw new Error('nothing was refused');
}

const canonical = () => labKernel(canonicalStages);
const contribution = (over: Partial<LabContribution>): LabContribution => ({
  family: 'egress.preparing',
  class: 'observer',
  id: 'a',
  handler: none,
  ...over,
});

describe('fault 31: a registration that cannot be -> an error with the nearest valid name', () => {
  it.each([
    ['egress.preparring', 'egress.preparing'],
    ['egress.sendng', 'egress.sending'],
    ['Agent.Tool.Calling', 'agent.tool.calling'],
    ['routing.resolve', 'routing.resolved'],
    ['ingress-received', 'ingress.received'],
  ])('unknown family %s -> %s (§3.1)', (family, nearest) => {
    const error = refusal(() => canonical().contribute(contribution({ family })));
    expect(error.code).toBe('unknown-family');
    expect(error.message).toContain(`"${family}"`);
    expect(error.message).toContain(`Did you mean "${nearest}"?`);
  });

  it.each(['qqqqqqqqqqqqqqqqqqqqqq', '', '__proto__', 'constructor', 'x'.repeat(100_000)])(
    'a family that is near to nothing is refused without a guess (%#)',
    (family) => {
      const error = refusal(() => canonical().contribute(contribution({ family })));
      expect(error.code).toBe('unknown-family');
      expect(error.message).not.toContain('Did you mean');
    },
  );

  it('the same family is misspelt in dispatch, parsePayload and plan', async () => {
    const kernel = canonical();
    const nearest = 'Did you mean "egress.sending"?';
    await expect(kernel.dispatch('egress.sendng', {})).rejects.toThrow(nearest);
    expect(refusal(() => kernel.dispatchSync('egress.sendng', {})).message).toContain(nearest);
    expect(refusal(() => kernel.parsePayload('egress.sendng', {})).message).toContain(nearest);
    expect(refusal(() => kernel.plan('egress.sendng')).message).toContain(nearest);
  });

  it.each(['augmenter', 'mutator', 'veto', 'resolver'] as const)(
    'a %s on an observe-only family names the stages that take one (§3.1)',
    (name) => {
      const act = () =>
        canonical().contribute(contribution({ family: 'egress.sending', class: name }));
      const error = refusal(act);
      expect(error.code).toBe('class-not-allowed');
      expect(error.message).toContain('"egress.sending"');
      expect(error.message).toContain('it allows observer');
      const named = `${error.message} ${error.hint}`;
      for (const stage of canonicalStages.filter(({ classes }) => classes.includes(name)))
        expect(named).toContain(stage.family);
      expect(named).toContain('egress.preparing');
    },
  );

  it('a class that is none names the five', () => {
    const wrong = { ...contribution({}), class: 'mutater' as never };
    expect(refusal(() => canonical().contribute(wrong)).message).toMatch(/"mutater"/);
    expect(refusal(() => canonical().contribute(wrong)).message).toContain('mutator');
  });

  it('twice, also on another family, names where the first is (§3.3)', () => {
    const kernel = canonical();
    kernel.contribute(contribution({ id: 'sign' }));
    for (const family of ['egress.preparing', 'egress.sending']) {
      const error = refusal(() => kernel.contribute(contribution({ id: 'sign', family })));
      expect(error.code).toBe('duplicate-contribution');
      expect(error.message).toMatch(/"x".*"sign".*"egress.preparing"/);
    }
    expect(kernel.plan('egress.preparing')).toHaveLength(1);
    expect(kernel.plan('egress.sending')).toEqual([]);
  });

  it('disposing frees the name; disposing twice takes nothing else out (§3.3)', () => {
    const kernel = canonical();
    const first = kernel.contribute(contribution({}));
    first[Symbol.dispose]();
    kernel.contribute(contribution({}));
    first[Symbol.dispose]();
    expect(kernel.plan('egress.preparing')).toHaveLength(1);
    expect(refusal(() => kernel.contribute(contribution({}))).code).toBe('duplicate-contribution');
  });

  it.each([
    ['no handler', { handler: undefined as never }],
    ['an id with a slash', { id: 'a/b' }],
    ['an id with a space', { id: 'a b' }],
    ['an empty id', { id: '' }],
    ['an id that is no text', { id: 7 as never }],
    ['an extension of two lines', { extensionId: 'a\nb' }],
    ['a budget of 0', { timeoutMs: 0 }],
    ['a budget without end', { timeoutMs: Number.POSITIVE_INFINITY }],
    ['failClosed on an observer', { failClosed: true }],
    ['recheck on an observer', { recheck: false }],
    ['detached on a veto', { class: 'veto', detached: true }],
  ] satisfies [string, Partial<LabContribution>][])(
    '%s is bad-contribution (§3.4)',
    (_name, over) => {
      const kernel = canonical();
      expect(refusal(() => kernel.contribute(contribution(over))).code).toBe('bad-contribution');
      expect(kernel.stats().contributions).toBe(0);
    },
  );

  it('late, while the kernel runs, is in time: it takes part from the next dispatch on (§3.5)', async () => {
    const stage = faultStage();
    const kernel = labKernel([stage]);
    await kernel.run(stage.family, faultSample());
    let ran = 0;
    const count = (): void => {
      ran++;
    };
    kernel.contribute({ family: stage.family, class: 'observer', id: 'late', handler: count });
    await kernel.run(stage.family, faultSample());
    expect(ran).toBe(1);
  });
});

describe('fault 32: 10,000 registrations on one family', () => {
  const stage = faultStage();
  const other = faultStage({ family: 'fault.other' });

  function storm(kernel: LabKernel, count: number): void {
    for (let i = 0; i < count; i++)
      kernel.contribute({ family: stage.family, class: 'observer', id: `h${i}`, handler: none });
  }

  function logged(limits?: { readonly warnAt?: number; readonly refuseAt?: number }) {
    const warnings: string[] = [];
    const log = (message: string): void => {
      warnings.push(message);
    };
    const logger = { debug: none, info: none, warn: log, error: log };
    const kernel = labKernel([stage, other], { logger, ...(limits && { limits }) });
    return { kernel, warnings };
  }

  it('warns once, at the threshold, naming family and author (§3.6)', () => {
    const { kernel, warnings } = logged();
    storm(kernel, 999);
    expect(warnings).toEqual([]);
    kernel.contribute({ family: stage.family, class: 'observer', id: 'straw', handler: none });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/"fault\.stage".*1000.*x\/straw/);
    for (let i = 0; i < 9_000; i++)
      kernel.contribute({ family: stage.family, class: 'observer', id: `more${i}`, handler: none });
    expect(warnings).toHaveLength(1);
    expect(kernel.stats().contributions).toBe(10_000);
  });

  it('refuses at the cap, and keeps what it has (§3.6)', async () => {
    const { kernel } = logged({ refuseAt: 10_000 });
    storm(kernel, 10_000);
    const one = { family: stage.family, class: 'observer', id: 'straw', handler: none } as const;
    const error = refusal(() => kernel.contribute(one));
    expect(error.code).toBe('too-many-handlers');
    expect(error.message).toMatch(/"fault\.stage" has 10000 handlers.*x\/straw/);
    kernel.contribute({ ...one, family: other.family });
    expect((await kernel.run(stage.family, faultSample())).status).toBe('passed');
    expect(kernel.stats().contributions).toBe(10_001);
  });

  it('the cap is 20,000 where unsaid', () => {
    const { kernel } = logged();
    storm(kernel, 20_000);
    const one = { family: stage.family, class: 'observer', id: 'straw', handler: none } as const;
    expect(refusal(() => kernel.contribute(one)).code).toBe('too-many-handlers');
  });

  it('one that is disposed makes room', () => {
    const { kernel } = logged({ refuseAt: 1 });
    const one = { family: stage.family, class: 'observer', id: 'a', handler: none } as const;
    kernel.contribute(one)[Symbol.dispose]();
    kernel.contribute({ ...one, id: 'b' });
    expect(refusal(() => kernel.contribute({ ...one, id: 'c' })).code).toBe('too-many-handlers');
  });

  it('a dispatch calls each handler once, and compares and plans nothing anew (§4.5)', async () => {
    for (const count of [100, 1_000, 10_000]) {
      const { kernel } = logged();
      storm(kernel, count);
      await kernel.run(stage.family, faultSample());
      const first = kernel.stats();
      expect(first.handlerCalls).toBe(count);
      expect(first.comparisons).toBeLessThanOrEqual(count * Math.ceil(Math.log2(count)));
      for (let i = 0; i < 3; i++) await kernel.run(stage.family, faultSample());
      const after = kernel.stats();
      expect(after.handlerCalls - first.handlerCalls).toBe(3 * count);
      expect(after).toMatchObject({
        comparisons: first.comparisons,
        plansBuilt: 1,
        payloadsFrozen: 4, // §1.5: once per dispatch, however many handlers
        envelopesMade: 0, // §1.2: nobody read it
      });
    }
  });

  it('registrations elsewhere cost a dispatch nothing', async () => {
    const { kernel } = logged();
    kernel.contribute({ family: other.family, class: 'observer', id: 'a', handler: none });
    await kernel.run(other.family, faultSample());
    const before = kernel.stats();
    storm(kernel, 10_000);
    await kernel.run(other.family, faultSample());
    const after = kernel.stats();
    expect(after.handlerCalls - before.handlerCalls).toBe(1);
    expect(after.comparisons).toBe(before.comparisons);
    expect(after.plansBuilt).toBe(before.plansBuilt);
  });

  it('10,000 that come and go leave nothing', () => {
    const { kernel } = logged();
    for (let i = 0; i < 10_000; i++)
      kernel
        .contribute({ family: stage.family, class: 'observer', id: 'same', handler: none })
        [Symbol.dispose]();
    expect(kernel.stats().contributions).toBe(0);
    expect(kernel.plan(stage.family)).toEqual([]);
  });
});
