import { describe, expect, it } from 'vitest';
import { bridgeCsdk, type CsdkFrame } from '../../src/claude/index.js';
import { ask, cancel, type Kernel } from '../../src/kernel/internal.js';
import { createTestKernel } from '../../src/testing/index.js';
import { bridged, bridgedSession, frames, type Script, sdkSide } from '../support/bridge-lab.js';
import { deferred } from '../support/kernel-lab.js';

const { init, text, call, answer, result } = frames;
const at = { extensionId: 'test', id: 'probe' } as const;

const denies = (reason: string) => (kernel: Kernel) =>
  kernel.contribute({
    ...at,
    family: 'agent.tool.calling',
    class: 'veto',
    handler: () => cancel('policy', { text: reason }),
  });
const patches = (kernel: Kernel) =>
  kernel.contribute({
    ...at,
    family: 'agent.tool.calling',
    class: 'mutator',
    handler: ({ payload }) => ({ params: { command: `${payload.params.command} --safe` } }),
  });

/** Runs one tool call, as the SDK does: the hook, its own rules, the permission, the tool. */
function oneCall(
  announced: 'frame first' | 'hook first',
  answers: unknown[] = [],
  asks: readonly ('pre' | 'permit')[] = ['pre', 'permit'],
): Script {
  return async function* ({ pre, permit, hook }) {
    yield init();
    if (announced === 'frame first') yield call('t', 'Bash', { command: 'ls' });
    if (asks.includes('pre')) answers.push(await pre('t', 'Bash', { command: 'ls' }));
    if (asks.includes('permit')) answers.push(await permit('t', 'Bash', { command: 'ls' }));
    if (announced === 'hook first') yield call('t', 'Bash', { command: 'ls' });
    const refused = JSON.stringify(answers).includes('deny');
    if (!refused) await hook('PostToolUse', { tool_name: 'Bash', tool_use_id: 't' });
    yield answer('t', refused ? 'denied' : 'a.txt', {}, refused);
    yield text('m2', 'Done.');
    yield result();
  };
}

describe.each(['frame first', 'hook first'] as const)('a tool call of a live run, %s', (order) => {
  it('is denied by a veto, with its reason, by both ways that the SDK asks (§18.5)', async () => {
    const answers: unknown[] = [];
    const lab = await bridged(oneCall(order, answers), { contribute: denies('ask first') });
    expect(answers).toEqual([
      {
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecision: 'deny',
          permissionDecisionReason: 'ask first',
        },
      },
      { behavior: 'deny', message: 'ask first' },
    ]);
    expect(lab.of('agent.tool.calling')).toMatchObject([{ status: 'cancelled' }]);
    expect(lab.of('agent.tool.called')).toMatchObject([
      { payload: { toolCallId: 't', isError: true, error: 'ask first' } },
    ]);
  });

  it.each([
    ['allowed', { status: 'allowed', use: async () => true }, undefined],
    ['denied', { status: 'denied', reason: 'not today' }, 'a human denied it: not today'],
    ['timed out', { status: 'expired' }, 'no human allowed it in time'],
  ] as const)('is %s by a human while the SDK waits (judgement §4.12)', async (_, said, reason) => {
    const answers: unknown[] = [];
    const asked: string[] = [];
    const contribute = (kernel: Kernel) =>
      kernel.contribute({
        ...at,
        family: 'agent.tool.calling',
        class: 'veto',
        handler: () => ask({ title: 'Run it?' }),
      });
    const approvals = {
      ask: async ({ question }: { readonly question: { readonly title: string } }) => {
        asked.push(question.title);
        return said;
      },
    };
    await bridged(oneCall(order, answers), { contribute, approvals });
    expect(asked).toEqual(['Run it?']);
    expect(answers).toEqual(
      reason === undefined
        ? [{}, { behavior: 'allow', updatedInput: { command: 'ls' } }]
        : [
            {
              hookSpecificOutput: {
                hookEventName: 'PreToolUse',
                permissionDecision: 'deny',
                permissionDecisionReason: reason,
              },
            },
            { behavior: 'deny', message: reason },
          ],
    );
  });

  it('runs with what a mutator made of its input (§18.5)', async () => {
    const answers: unknown[] = [];
    const lab = await bridged(oneCall(order, answers), { contribute: patches });
    const updatedInput = { command: 'ls --safe' };
    expect(answers).toEqual([
      { hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput } },
      { behavior: 'allow', updatedInput },
    ]);
    expect(lab.of('agent.tool.called')).toMatchObject([
      { payload: { params: updatedInput, result: 'a.txt', isError: false } },
    ]);
  });

  it.each([[['pre']], [['permit']], [['pre', 'permit']]] as const)(
    'is dispatched once where %j announce it (§18.1)',
    async (asks) => {
      const { of } = await bridged(oneCall(order, [], asks));
      expect(of('agent.tool.calling')).toMatchObject([
        {
          status: 'passed',
          failures: [],
          event: { sessionId: 's-1', metadata: { runId: 'r-1' } },
          payload: { ...bridgedSession, runId: 'r-1', toolCallId: 't', toolName: 'Bash' },
        },
      ]);
      expect(of('agent.tool.called')).toHaveLength(1);
    },
  );
});

describe('the gate of a live run', () => {
  it('fails closed: a veto that must hold and fails denies the call', async () => {
    const answers: unknown[] = [];
    await bridged(oneCall('frame first', answers), {
      contribute: (kernel) =>
        kernel.contribute({
          ...at,
          family: 'agent.tool.calling',
          class: 'veto',
          failClosed: true,
          handler: () => {
            throw new Error('no policy server');
          },
        }),
    });
    expect(JSON.stringify(answers[0])).toMatch(/deny.*the call failed \(threw in test\/probe\)/);
  });

  it('observes a call that no callback announced, as the model’s own server runs it (§18.5)', async () => {
    const { of } = await bridged(
      [init(), call('t', 'Bash', { command: 'ls' }), answer('t', 'a.txt'), result()],
      { contribute: denies('too late') },
    );
    expect(of('agent.tool.calling')).toMatchObject([
      { status: 'passed', failures: [{ kind: 'observe-only' }] },
    ]);
    expect(of('agent.tool.called')).toMatchObject([{ payload: { isError: false } }]);
  });

  it('answers a request that the SDK repeats as it did before, with one dispatch (§18.1)', async () => {
    const answers: unknown[] = [];
    const { of } = await bridged(async function* ({ permit }) {
      yield init();
      answers.push(
        ...(await Promise.all([permit('t', 'Bash', { command: 'ls' }), permit('t', 'Bash', {})])),
      );
      yield call('t', 'Bash', { command: 'ls' });
      yield answer('t', 'a.txt');
      yield result();
    });
    expect(answers[1]).toEqual(answers[0]);
    expect(of('agent.tool.calling')).toHaveLength(1);
  });

  it('tells what a call ran with where the host’s own canUseTool changed it', async () => {
    const { of } = await bridged(oneCall('frame first'), {
      permissions: {
        canUseTool: async () => ({ behavior: 'allow', updatedInput: { command: 'ls -l' } }),
      },
    });
    expect(of('agent.tool.called')[0]?.payload.params).toEqual({ command: 'ls -l' });
  });

  it('blocks the call that a person is asked about, and nothing else of the run', async () => {
    const person = deferred<null>();
    const seen: string[] = [];
    const running = bridged(
      async function* ({ pre }) {
        yield init();
        yield call('t', 'Bash', { command: 'ls' });
        const asked = pre('t', 'Bash', { command: 'ls' });
        yield text('m2', 'Meanwhile.');
        person.resolve(null);
        await asked;
        yield answer('t', 'a.txt');
        yield result();
      },
      {
        contribute: (kernel) =>
          kernel.contribute({
            ...at,
            family: 'agent.tool.calling',
            class: 'veto',
            handler: async () => {
              await person.promise;
              seen.push('allowed');
              return null;
            },
          }),
        onEvent: (event) => event.type === 'message_end' && seen.push('message_end'),
      },
    );
    await running;
    expect(seen[0]).toBe('message_end');
  });

  it('begins the run by itself where the SDK asks before anybody reads (§18.2)', async () => {
    const { kernel, outcomes } = createTestKernel();
    const bridge = bridgeCsdk(kernel, { session: bridgedSession, runId: 'r-1' });
    await sdkSide(bridge).pre('t', 'Bash', {});
    for await (const _ of bridge.run([call('t', 'Bash'), answer('t', 'x'), result()]));
    const families = outcomes.map(({ event }) => event.family);
    expect(families.slice(0, 2)).toEqual(['agent.starting', 'agent.tool.calling']);
    expect(families.filter((family) => family === 'agent.starting')).toHaveLength(1);
  });

  it('refuses what is asked after the run has ended, without a dispatch', async () => {
    const { kernel, outcomes } = createTestKernel();
    const bridge = bridgeCsdk(kernel, { session: bridgedSession, runId: 'r-1' });
    for await (const _ of bridge.run([init(), result()]));
    const told = outcomes.length;
    expect(JSON.stringify(await sdkSide(bridge).pre('t', 'Bash', {}))).toMatch(
      /deny.*the run has ended/,
    );
    expect(outcomes).toHaveLength(told);
  });

  it('gives up what it is still asked when the run ends, and tells that before the end (§18.2)', async () => {
    let late: Promise<unknown> | undefined;
    const { families } = await bridged(
      async function* ({ pre }): AsyncGenerator<CsdkFrame> {
        yield init();
        yield call('t', 'Bash', {});
        late = pre('t', 'Bash', {});
        yield result();
      },
      {
        contribute: (kernel) =>
          kernel.contribute({
            ...at,
            family: 'agent.tool.calling',
            class: 'veto',
            handler: () => new Promise<never>(() => undefined),
          }),
      },
    );
    expect(JSON.stringify(await late)).toMatch(/deny/);
    expect(families().slice(-2)).toEqual(['agent.completed', 'agent.llm.output']);
    expect(families().filter((family) => family === 'agent.tool.called')).toHaveLength(1);
  });

  it('takes a compaction that a hook announces before its frames as one (§18.4)', async () => {
    const { of } = await bridged(async function* ({ hook }) {
      yield init();
      yield text('m1', 'a');
      await hook('PreCompact', { trigger: 'auto' });
      yield frames.system('compact_boundary', { compact_metadata: { trigger: 'auto' } });
      await hook('PostCompact', { trigger: 'auto' });
      yield text('m2', 'b');
      yield result();
    });
    expect(of('compaction.before')).toMatchObject([
      { payload: { cause: 'auto', messageCount: 2 } },
    ]);
    expect(of('compaction.after')).toHaveLength(1);
  });
});
