import { describe, expect, it } from 'vitest';
import { contributor, createLab, deferred } from '../../support/kernel-lab.js';
import { labSample } from '../../support/kernel-stages.js';

const nothing = (): undefined => undefined;

describe('a trace', () => {
  it('holds every handler in run order with its result and time (§12.3)', async () => {
    const { kernel, clock } = createLab({
      trace: true,
      overrides: { 'x/off': { disabled: true } },
    });
    const add = contributor(kernel, 'lab.sequential');
    const gate = deferred();
    add('observer', 'o', nothing, { priority: 9 });
    add('augmenter', 'a', () => ({ notes: ['n'] }), { priority: 8 });
    add('mutator', 'm', () => ({ title: 'new' }), { priority: 7 });
    add('observer', 'slow', () => gate.promise, { priority: 6 });
    add('veto', 'v', () => ({ kind: 'cancel', code: 'policy' }), { priority: 5 });
    add('resolver', 'r', nothing, { priority: 4 });
    add('observer', 'off', nothing);
    const running = kernel.dispatch('lab.sequential', labSample());
    await clock.advance(25);
    gate.resolve();
    const { steps } = await running;
    expect(steps.map((step) => [step.contributionId, step.result, step.durationMs])).toEqual([
      ['o', 'nothing', 0],
      ['a', 'annotated', 0],
      ['m', 'patched', 0],
      ['slow', 'nothing', 25],
      ['v', 'cancelled', 0],
      ['r', 'skipped', undefined],
      ['off', 'skipped', undefined],
    ]);
    expect(steps.map(({ why }) => why).slice(-2)).toEqual(['after-cancel', 'disabled']);
  });

  it('marks what judged again (§8.3, §12.3)', () => {
    const { kernel } = createLab({ trace: true });
    const add = contributor(kernel, 'lab.sync');
    add('veto', 'a', nothing);
    add('mutator', 'b', () => ({ title: 'new' }));
    const { steps } = kernel.dispatchSync('lab.sync', labSample());
    expect(steps.map((step) => [step.contributionId, step.recheck])).toEqual([
      ['a', undefined],
      ['b', undefined],
      ['a', true],
    ]);
  });

  it('times no detached observer, which is not awaited (§4.7, §12.3)', async () => {
    const { kernel } = createLab({ trace: true });
    const options = { detached: true };
    contributor(kernel, 'lab.sequential')('observer', 'a', async () => undefined, options);
    const { steps } = await kernel.dispatch('lab.sequential', labSample());
    expect(steps).toEqual([
      { extensionId: 'x', contributionId: 'a', class: 'observer', result: 'detached' },
    ]);
  });

  it('is empty unless it was asked for (§12.3)', () => {
    const { kernel } = createLab();
    contributor(kernel, 'lab.sync')('observer', 'a', nothing);
    expect(kernel.dispatchSync('lab.sync', labSample()).steps).toEqual([]);
  });
});
