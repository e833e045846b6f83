import { describe, expect, it } from 'vitest';
import { createKernel } from '../../../src/kernel/internal.js';
import { contributor, createLab } from '../../support/kernel-lab.js';
import { labSample, labStages } from '../../support/kernel-stages.js';

const nothing = (): undefined => undefined;

describe('introspection', () => {
  it('shows each stage with its handlers in run order (§12.4)', () => {
    const { kernel } = createLab();
    const add = contributor(kernel, 'lab.sync');
    add('veto', 'v', nothing, { failClosed: true, recheck: false, timeoutMs: 5 });
    add('observer', 'o', nothing, { detached: true, priority: 1 });
    expect(kernel.stages().map(({ stage }) => stage.family)).toEqual(
      labStages.map(({ family }) => family),
    );
    expect(kernel.plan('lab.sync')).toEqual([
      {
        extensionId: 'x',
        contributionId: 'o',
        class: 'observer',
        band: 'main',
        priority: 1,
        timeoutMs: 400,
        policy: 'open',
        detached: true,
        recheck: true,
        previewOk: false,
        mode: 'enforce',
        match: undefined,
        operatorMatch: undefined,
        disabled: false,
        quarantined: false,
      },
      {
        extensionId: 'x',
        contributionId: 'v',
        class: 'veto',
        band: 'main',
        priority: 0,
        timeoutMs: 5,
        policy: 'closed',
        detached: false,
        recheck: false,
        previewOk: false,
        mode: 'enforce',
        match: undefined,
        operatorMatch: undefined,
        disabled: false,
        quarantined: false,
      },
    ]);
    expect(kernel.stages().find(({ stage }) => stage.family === 'lab.sync')?.handlers).toEqual(
      kernel.plan('lab.sync'),
    );
  });

  it('has says whether a family has handlers (§12.4)', () => {
    const { kernel } = createLab();
    expect(kernel.has('lab.sync')).toBe(false);
    const registration = contributor(kernel, 'lab.sync')('observer', 'o', nothing);
    expect(kernel.has('lab.sync')).toBe(true);
    registration[Symbol.dispose]();
    expect(kernel.has('lab.sync')).toBe(false);
    expect(() => kernel.has('lab.nothing')).toThrow(
      expect.objectContaining({ code: 'unknown-family' }),
    );
  });

  it('stats count dispatches by status, calls and failures by policy (§12.4)', () => {
    const { kernel } = createLab();
    const add = contributor(kernel, 'lab.sync');
    kernel.dispatchSync('lab.sync', labSample());
    const first = add('observer', 'a', () => 'odd');
    kernel.dispatchSync('lab.sync', labSample());
    first[Symbol.dispose]();
    const second = add('veto', 'b', () => ({ kind: 'cancel', code: 'policy' }));
    kernel.dispatchSync('lab.sync', labSample());
    second[Symbol.dispose]();
    add('veto', 'c', nothing, { failClosed: true });
    kernel.dispatchSync('lab.sync', labSample());
    expect(kernel.stats()).toMatchObject({
      dispatches: 4,
      passed: 2,
      cancelled: 1,
      failed: 1,
      handlerCalls: 3,
      failedOpen: 1,
      failedClosed: 1,
      contributions: 1,
      waiting: 0,
      stillRunning: [],
    });
  });

  it('of one family twice is refused (§2.1)', () => {
    const [stage] = labStages;
    if (stage === undefined) throw new Error('the lab has no stage');
    expect(() => createKernel({ stages: [stage, stage] })).toThrow(
      expect.objectContaining({ code: 'duplicate-family' }),
    );
  });
});
