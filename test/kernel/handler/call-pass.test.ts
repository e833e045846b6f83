import { describe, expect, it } from 'vitest';
import { allow, type Call, cancel } from '../../../src/kernel/internal.js';
import { createTestKernel, samplePayload } from '../../../src/testing/index.js';

const at = { extensionId: 'test', family: 'egress.preparing' } as const;
const payload = () => ({ ...samplePayload('egress.preparing'), explicit: true });

describe('the pass of a call (§8.7)', () => {
  it('is first, and recheck if a veto judges again; a kept call keeps its own', async () => {
    const { kernel } = createTestKernel();
    const calls: Call<'egress.preparing'>[] = [];
    const seen: string[] = [];
    kernel.contribute({
      ...at,
      ...{ class: 'veto', id: 'counts', priority: 1 },
      handler: (call) => {
        calls.push(call);
        seen.push(`${call.pass} ${call.payload.content}`);
        return allow();
      },
    });
    kernel.contribute({
      ...at,
      ...{ class: 'mutator', id: 'sign' },
      handler: ({ pass }) => ({ content: `signed in the ${pass} pass` }),
    });
    await kernel.dispatch('egress.preparing', { ...payload(), content: 'hello' });
    expect(seen).toEqual(['first hello', 'recheck signed in the first pass']);
    expect(calls.map(({ pass }) => pass)).toEqual(['first', 'recheck']);
  });

  it('lets a limiter count each message once', async () => {
    const { kernel } = createTestKernel();
    let count = 0;
    kernel.contribute({
      ...at,
      ...{ class: 'veto', id: 'limit', priority: 1 },
      handler: ({ pass }) => {
        if (pass === 'first') count++;
        return count > 2 ? cancel('rate-limited') : allow();
      },
    });
    kernel.contribute({
      ...at,
      ...{ class: 'mutator', id: 'sign' },
      handler: ({ payload: { content } }) => ({ content: `${content}.` }),
    });
    const statuses: string[] = [];
    for (let i = 0; i < 3; i++)
      statuses.push((await kernel.dispatch('egress.preparing', payload())).status);
    expect(statuses).toEqual(['passed', 'passed', 'cancelled']);
  });
});

describe('the gate of a call (§11.1)', () => {
  it.each([
    [{}, 'enforce'],
    [{ gate: 'enforce' }, 'enforce'],
    [{ gate: 'observe-only' }, 'observe-only'],
  ] as const)('of a dispatch given %j is %s', async (given, gate) => {
    const { kernel } = createTestKernel();
    const gates: string[] = [];
    kernel.contribute({
      ...at,
      ...{ class: 'observer', id: 'look' },
      handler: (call) => void gates.push(call.gate),
    });
    await kernel.dispatch('egress.preparing', payload(), given);
    expect(gates).toEqual([gate]);
  });
});
