import { describe, expect, it } from 'vitest';
import type { Override } from '../../../src/kernel/internal.js';
import { contributor, createLab } from '../../support/kernel-lab.js';
import { labSample } from '../../support/kernel-stages.js';

const nothing = (): undefined => undefined;

describe('overrides', () => {
  it('disable a contribution: in no plan, and in every outcome’s skipped (§12.1)', () => {
    const { kernel } = createLab({ overrides: { 'x/a': { disabled: true } } });
    let calls = 0;
    contributor(kernel, 'lab.sync')('observer', 'a', () => void calls++);
    const outcome = kernel.dispatchSync('lab.sync', labSample());
    expect(calls).toBe(0);
    expect(outcome.skipped).toEqual([{ extensionId: 'x', contributionId: 'a', why: 'disabled' }]);
    expect(kernel.has('lab.sync')).toBe(false);
    expect(kernel.plan('lab.sync')).toMatchObject([{ contributionId: 'a', disabled: true }]);
  });

  it('set priority and timeoutMs over the contribution’s own (§12.1)', () => {
    const { kernel } = createLab({
      overrides: { 'x/a': { priority: 5, timeoutMs: 7 }, '@scope/b/c': { priority: 9 } },
    });
    contributor(kernel, 'lab.sync')('observer', 'a', nothing, { priority: -5, timeoutMs: 1 });
    contributor(kernel, 'lab.sync')('observer', 'c', nothing, { extensionId: '@scope/b' });
    expect(kernel.plan('lab.sync')).toMatchObject([
      { extensionId: '@scope/b', priority: 9 },
      { contributionId: 'a', priority: 5, timeoutMs: 7 },
    ]);
  });

  it.each([
    ['x/a', { priority: Number.NaN }],
    ['x/a', { timeoutMs: -1 }],
    ['x/a', { disbled: true }],
    ['a', { disabled: true }],
  ])('that cannot apply are refused when the kernel is made: %s %o (§12.1)', (key, override) => {
    expect(() => createLab({ overrides: { [key]: override as Override } })).toThrow(
      expect.objectContaining({ code: 'bad-option' }),
    );
  });
});

describe('grants', () => {
  it.each(['lab.sync:title', 'lab.nothing:secret', 'secret', ''])(
    'of "%s", which is no trusted field, are refused when the kernel is made (§6.7)',
    (grant) => {
      expect(() => createLab({ grants: { x: [grant] } })).toThrow(
        expect.objectContaining({ code: 'bad-option' }),
      );
    },
  );
});
