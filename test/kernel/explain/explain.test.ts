import { describe, expect, it } from 'vitest';
import { cancel, select } from '../../../src/kernel/internal.js';
import { createTestKernel, explain, samplePayload } from '../../../src/testing/index.js';

const { kernel } = createTestKernel({ overrides: { 'b/off': { disabled: true } } });
const acme = { extensionId: 'a', family: 'egress.preparing' } as const;
kernel.contribute({
  ...acme,
  class: 'mutator',
  id: 'sign',
  priority: 3,
  handler: ({ payload }) => ({ content: `${payload.content}!` }),
});
kernel.contribute({
  ...acme,
  class: 'mutator',
  id: 'trim',
  priority: 2,
  handler: () => ({ content: 'Hi' }),
});
kernel.contribute({
  ...acme,
  class: 'observer',
  id: 'off',
  extensionId: 'b',
  handler: () => undefined,
});
kernel.contribute({
  ...acme,
  class: 'veto',
  id: 'night',
  handler: ({ payload }) => {
    if (payload.kind === 'error') throw new Error('no\nclock');
    return payload.kind === 'notice' ? cancel('quiet-hours', { text: 'until\n07:00' }) : undefined;
  },
});
kernel.contribute({
  ...acme,
  class: 'observer',
  id: 'watch',
  priority: -1,
  handler: () => undefined,
});

const route = { extensionId: 'r', family: 'routing.resolving', class: 'resolver' } as const;
kernel.contribute({
  ...route,
  id: 'low',
  priority: 3,
  handler: () => select({ agentId: 'a' }, { rank: 1 }),
});
kernel.contribute({
  ...route,
  id: 'named',
  priority: 2,
  handler: () => select({ agentId: 'b' }, { explicit: true, rank: 5 }),
});
kernel.contribute({
  ...route,
  id: 'less',
  priority: 1,
  handler: () => select({ agentId: 'c' }, { explicit: true, rank: 4 }),
});
kernel.contribute({
  ...route,
  id: 'same',
  handler: () => select({ agentId: 'd' }, { explicit: true, rank: 5 }),
});
kernel.contribute({
  ...route,
  id: 'gone',
  priority: -1,
  handler: () => select({ agentId: 'gone' }, { explicit: true, rank: 9 }),
});

const prepare = (kind: 'reply' | 'notice' | 'error') =>
  kernel.dispatch('egress.preparing', {
    ...samplePayload('egress.preparing'),
    explicit: true,
    kind,
  });

describe('an explained outcome (§5)', () => {
  it('names each step, and each write with the one before it', async () => {
    expect(explain(await prepare('reply'))).toBe(
      [
        'egress.preparing passed',
        '  a/sign  mutator  patched  0.0 ms',
        '  a/trim  mutator  patched  0.0 ms',
        '  a/night  veto  nothing  0.0 ms',
        '  a/watch  observer  nothing  0.0 ms',
        '  b/off  observer  skipped (disabled)',
        '  content changed by a/sign',
        '  content changed by a/trim, in conflict with a/sign',
      ].join('\n'),
    );
  });

  it('names what was skipped where no steps were traced, too', async () => {
    const { kernel: quiet } = createTestKernel({
      trace: false,
      overrides: { 'b/off': { disabled: true } },
    });
    quiet.contribute({
      ...acme,
      class: 'observer',
      id: 'off',
      extensionId: 'b',
      handler: () => undefined,
    });
    const payload = { ...samplePayload('egress.preparing'), explicit: true };
    expect(explain(await quiet.dispatch('egress.preparing', payload))).toBe(
      'egress.preparing passed\n  b/off skipped: disabled',
    );
  });

  it('names who cancelled and why, on one line', async () => {
    const text = explain(await prepare('notice'));
    expect(text).toMatch(/^egress\.preparing cancelled by a\/night: quiet-hours, "until 07:00"\n/);
    expect(text).toContain('  a/watch  observer  skipped (after-cancel)');
  });

  it('names failures with their policy', async () => {
    expect(explain(await prepare('error'))).toContain('  a/night failed open: threw, no clock');
  });

  it('says of each candidate why it lost', async () => {
    const outcome = await kernel.dispatch('routing.resolving', samplePayload('routing.resolving'), {
      valid: (target) => target.agentId !== 'gone' || 'there is no such agent',
    });
    expect(
      explain(outcome)
        .split('\n')
        .filter((line) => line.includes('proposed by')),
    ).toEqual([
      '  {"agentId":"a"} proposed by r/low: lost, it is inferred and the other explicit',
      '  {"agentId":"b"} proposed by r/named: selected',
      '  {"agentId":"c"} proposed by r/less: lost, its rank 4 is below 5',
      '  {"agentId":"d"} proposed by r/same: lost, it came later in run order',
      '  {"agentId":"gone"} proposed by r/gone: not valid, there is no such agent',
    ]);
  });

  it('names what was overruled', async () => {
    const { kernel: models } = createTestKernel();
    const model = { family: 'agent.model.resolving', class: 'mutator', extensionId: 'm' } as const;
    models.contribute({ ...model, id: 'one', handler: () => ({ model: 'x' }) });
    models.contribute({ ...model, id: 'two', handler: () => ({ model: 'y' }) });
    const outcome = await models.dispatch(
      'agent.model.resolving',
      samplePayload('agent.model.resolving'),
    );
    expect(explain(outcome)).toContain('model not changed by m/two: overruled, m/one set it first');
  });
});
