import { describe, expect, it } from 'vitest';
import { judgeAsking } from '../../../src/agent/run/index.js';
import { ask } from '../../../src/kernel/internal.js';
import { createLegacyHookRunner, registerLegacyHook } from '../../../src/openclaw/index.js';
import { createTestKernel } from '../../../src/testing/index.js';

/** The parity suite has the real code of OpenClaw 2026.9 beside the bridge. */
function lab(answer: object) {
  const { kernel, outcomes } = createTestKernel();
  let calls = 0;
  const handler = () => {
    calls++;
    return answer;
  };
  registerLegacyHook(kernel, { pluginId: 'p', hookName: 'before_tool_call', handler });
  const payload = () => ({ toolName: 'exec', toolCallId: 't', params: { command: 'ls' } });
  return { kernel, outcomes, payload, calls: () => calls };
}

const approval = { title: 'Deploy?', description: 'To production.', timeoutMs: 60_000 };

describe('requireApproval of a plugin (judgement §4.13)', () => {
  it.each([
    [approval, []],
    [{ ...approval, allowedDecisions: ['allow-once', 'allow-always', 'deny'] }, ['tool']],
    [{ ...approval, allowedDecisions: ['allow-once', 'deny'] }, []],
    [{ ...approval, timeoutBehavior: 'allow' }, []],
  ])('is a question of its veto: %j', async (requireApproval, scopes) => {
    const { kernel, payload } = lab({ requireApproval, params: { command: 'ls -l' } });
    expect(await kernel.dispatch('agent.tool.calling', payload())).toMatchObject({
      status: 'cancelled',
      payload: { params: { command: 'ls -l' } },
      cancel: {
        code: 'approval-required',
        extensionId: 'p',
        question: {
          ...{ title: 'Deploy?', text: 'To production.', of: 'owner', timeoutMs: 60_000, scopes },
        },
      },
    });
  });

  it('is weaker than block', async () => {
    const { kernel, payload } = lab({ requireApproval: approval, block: true });
    const outcome = await kernel.dispatch('agent.tool.calling', payload());
    expect(outcome).toMatchObject({ status: 'cancelled', cancel: { code: 'blocked' } });
  });

  it.each([
    true,
    {},
    { title: 3 },
    { ...approval, timeoutMs: 'soon' },
    { ...approval, description: 1 },
  ])('is a closed failure if it cannot be asked: %j', async (requireApproval) => {
    const { kernel, payload } = lab({ requireApproval });
    const outcome = await kernel.dispatch('agent.tool.calling', payload());
    expect(outcome.status).toBe('failed');
  });

  it('calls the plugin once, also if a human has answered it or another veto', async () => {
    const { kernel, payload, calls } = lab({ requireApproval: approval });
    kernel.contribute({
      ...{ family: 'agent.tool.calling', class: 'veto', extensionId: 'z', id: 'too' },
      handler: () => ask({ title: 'And I?' }),
    });
    const asked = await kernel.dispatch('agent.tool.calling', payload());
    if (asked.status !== 'cancelled' || asked.cancel.question === undefined)
      throw new Error('nobody asked');
    const second = await kernel.dispatch('agent.tool.calling', asked.payload, {
      answered: [asked.cancel.question.asker],
      after: asked,
    });
    expect(second).toMatchObject({ status: 'cancelled', cancel: { extensionId: 'z' } });
    const third = await kernel.dispatch('agent.tool.calling', second.payload, {
      answered: [asked.cancel.question.asker, { extensionId: 'z', contributionId: 'too' }],
      after: second,
    });
    expect(third.status).toBe('passed');
    expect(calls()).toBe(1);
  });

  it('is asked for each plugin that requires it, also if another was answered before', async () => {
    const { kernel, payload } = lab({ requireApproval: approval });
    registerLegacyHook(kernel, {
      ...{ pluginId: 'q', hookName: 'before_tool_call' },
      handler: () => ({ requireApproval: { title: 'And I?' } }),
    });
    const asked = await kernel.dispatch('agent.tool.calling', payload());
    if (asked.status !== 'cancelled' || asked.cancel.question === undefined)
      throw new Error('nobody asked');
    const second = await kernel.dispatch('agent.tool.calling', asked.payload, {
      answered: [asked.cancel.question.asker],
      after: asked,
    });
    expect(second).toMatchObject({ status: 'cancelled', cancel: { extensionId: 'q' } });
  });

  it.each([
    ['allowed', 'allow-once'],
    ['denied', 'deny'],
    ['expired', 'timeout'],
    ['withdrawn', 'cancelled'],
  ] as const)(
    'that was %s is told to onResolution as %s (judgement §4.13)',
    async (status, told) => {
      const heard: string[] = [];
      const onResolution = (decision: string) => void heard.push(decision);
      const { kernel, payload } = lab({ requireApproval: { ...approval, onResolution } });
      const answer = status === 'allowed' ? { status, use: async () => true } : { status };
      const judged = await judgeAsking({
        ...{ family: 'agent.tool.calling', signal: new AbortController().signal },
        approvals: { ask: () => Promise.resolve(answer) },
        dispatch: (again) =>
          kernel.dispatch('agent.tool.calling', again?.payload ?? payload(), again?.given),
      });
      await new Promise(setImmediate);
      expect(judged.outcome.status).toBe(status === 'allowed' ? 'passed' : 'cancelled');
      expect(heard).toEqual([told]);
    },
  );

  it('whose allowedDecisions allow nothing is a denial, and nobody is asked (judgement §4.13)', async () => {
    const { kernel, payload } = lab({
      requireApproval: { ...approval, allowedDecisions: ['deny'] },
    });
    const outcome = await kernel.dispatch('agent.tool.calling', payload());
    expect(outcome).toMatchObject({ status: 'cancelled', cancel: { code: 'approval-denied' } });
  });

  it('is a block for a legacy caller, which cannot ask', async () => {
    const { kernel } = lab({ requireApproval: approval });
    const runner = createLegacyHookRunner(kernel);
    const event = { toolName: 'exec', params: { command: 'ls' } };
    const result = await runner.runBeforeToolCall(event, { toolName: 'exec' });
    expect(result).toMatchObject({
      block: true,
      blockReason: 'an approval is needed: Deploy?',
    });
  });
});
