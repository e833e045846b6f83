import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { plainPalette } from '../../../src/cli/shell/palette.js';
import { stageTable } from '../../../src/cli/stages/stages.js';
import { allow, canonicalStages, createKernel, defineStage } from '../../../src/kernel/internal.js';

const layout = { palette: plainPalette, width: 80, observeOnly: new Set<string>() };

describe('the table of stages', () => {
  it('fits 80 columns', () => {
    const lines = stageTable(createKernel().stages(), layout);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  it('marks what is deprecated, and what can only be observed', () => {
    const old = defineStage({
      family: 'acme.old',
      classes: ['observer'],
      mode: 'parallel',
      payload: Type.Object({}),
      deprecated: { since: '1.2.0', use: 'acme.new', removeAfter: '2.0.0' },
    });
    const kernel = createKernel({ stages: [old] });
    const observeOnly = new Set(['acme.old']);
    expect(stageTable(kernel.stages(), { ...layout, observeOnly })).toEqual([
      'FAMILY    MODE      CLASSES',
      'acme.old  parallel  observer',
      '  deprecated since 1.2.0: use acme.new, gone after 2.0.0',
      '  observe-only: the agent tells of it afterwards; a cancel or patch is a failure',
    ]);
  });

  it('tells of a handler what is not as usual', () => {
    const kernel = createKernel({
      stages: canonicalStages,
      overrides: {
        'acme/off': { disabled: true },
        'acme/some': { match: { channel: ['x', 'y'] } },
      },
    });
    const common = { family: 'egress.preparing', class: 'veto', extensionId: 'acme' } as const;
    kernel.contribute({ ...common, id: 'plain', handler: () => allow() });
    kernel.contribute({ ...common, id: 'off', handler: () => allow() });
    kernel.contribute({
      ...common,
      id: 'strict',
      priority: 5,
      timeoutMs: 500,
      failClosed: true,
      recheck: false,
      handler: () => allow(),
    });
    kernel.contribute({
      ...common,
      id: 'some',
      match: { kind: ['reply', 'stream-*'], isGroup: true },
      handler: () => allow(),
    });
    const lines = stageTable(kernel.stages(), layout).filter((line) => line.startsWith('  acme/'));
    expect(lines).toEqual([
      '  acme/strict, veto, priority 5, timeout 500 ms, fails closed, no recheck',
      '  acme/plain, veto',
      '  acme/some, veto, if kind is reply or stream-* and isGroup is true, by the operator if channel is x or y',
      '  acme/off, veto, disabled',
    ]);
  });
});
