import { describe, expect, it } from 'vitest';
import { runAgentTurn } from '../../../src/agent/index.js';
import { isRunDriven } from '../../../src/agent/run/index.js';
import type { FamilyName, Kernel } from '../../../src/kernel/internal.js';
import { bridgeGateway, type GatewayBridgeOptions } from '../../../src/openclaw/gateway/index.js';
import { createTestKernel } from '../../../src/testing/index.js';
import { until } from '../../support/gateway-server.js';
import { type ProviderLabOptions, providerLab } from '../../support/provider-lab.js';

interface BridgeLabOptions extends ProviderLabOptions {
  readonly bridge?: GatewayBridgeOptions;
  readonly contribute?: (kernel: Kernel) => unknown;
}

async function bridgeLab({ bridge: how, contribute, ...options }: BridgeLabOptions = {}) {
  const lab = await providerLab(options);
  const test = createTestKernel();
  contribute?.(test.kernel);
  const bridge = bridgeGateway(test.kernel, lab.client, { logger: lab.log, ...how });
  const families = (): FamilyName[] => test.outcomes.map(({ event }) => event.family);
  return {
    ...lab,
    test,
    bridge,
    families,
    count: (family: FamilyName): number => families().filter((one) => one === family).length,
    [Symbol.asyncDispose]: async () => {
      await bridge[Symbol.asyncDispose]();
      await lab[Symbol.asyncDispose]();
    },
  };
}

describe('bridgeGateway (stream §7)', () => {
  it('tells a run that nobody drives, each fact once, in the order of seed 001', async () => {
    await using lab = await bridgeLab();
    const { server } = lab;
    server.agent('r-x', 'lifecycle', { phase: 'start' });
    server.agent('r-x', 'assistant', { text: 'Let me', delta: 'Let me' });
    server.agent('r-x', 'tool', {
      phase: 'start',
      name: 'read',
      toolCallId: 't-1',
      args: { a: 1 },
    });
    server.agent('r-x', 'tool', { phase: 'result', name: 'read', toolCallId: 't-1', result: 'ok' });
    server.agent('r-x', 'assistant', { text: 'It is 5', delta: 'It is 5' });
    server.agent('r-x', 'lifecycle', { phase: 'end' });
    server.chat('r-x', 'final', 'Let meIt is 5');
    await until(() => lab.count('agent.llm.output') === 1);
    expect(lab.families()).toEqual([
      'agent.starting',
      'agent.output.delta',
      'transcript.message.writing',
      'agent.tool.calling',
      'agent.tool.called',
      'transcript.tool-result.persisting',
      'transcript.message.writing',
      'agent.output.delta',
      'transcript.message.writing',
      'agent.completed',
      'agent.llm.output',
    ]);
    const completed = lab.test.outcomes.find(({ event }) => event.family === 'agent.completed');
    expect(completed?.event).toMatchObject({
      agentId: 'main',
      sessionId: 'agent:main:s',
      payload: { runId: 'r-x', success: true, trigger: 'gateway' },
    });
    expect(isRunDriven(lab.test.kernel, 'r-x')).toBe(false);
    expect(lab.bridge.stats()).toEqual({ runs: 0, bridged: 1, refused: 0 });
  });

  it('can only watch: a veto of a tool call is a failure, and says so (stream §7.2)', async () => {
    await using lab = await bridgeLab({
      contribute: (kernel) =>
        kernel.contribute({
          ...{ family: 'agent.tool.calling', class: 'veto', extensionId: 'acme', id: 'no' },
          handler: () => ({ kind: 'cancel', code: 'policy' }) as never,
        }),
    });
    lab.server.agent('r-x', 'tool', { phase: 'start', name: 'read', toolCallId: 't-1', args: {} });
    lab.server.agent('r-x', 'lifecycle', { phase: 'end' });
    await until(() => lab.count('agent.completed') === 1);
    const calling = lab.test.outcomes.find(({ event }) => event.family === 'agent.tool.calling');
    expect(calling?.status).toBe('passed');
    expect(calling?.failures).toMatchObject([{ extensionId: 'acme' }]);
    expect(lab.count('agent.tool.called')).toBe(1);
  });

  it('leaves a run of a turn alone, whatever the gateway calls it (stream §7.1)', async () => {
    await using lab = await bridgeLab();
    lab.server.answers['chat.send'] = () => {
      lab.server.agent(
        'its-own',
        'assistant',
        { text: 'a' },
        { sessionKey: 'agent:main:sluice-s-1' },
      );
      return { payload: { runId: 'its-own', status: 'started' } };
    };
    const turn = runAgentTurn({
      kernel: lab.test.kernel,
      provider: lab.agent,
      message: { text: 'hello' },
      runId: 'turn-1',
      session: {
        ...{ agentId: 'main', sessionKey: 'k', sessionId: 's-1', history: [] },
        append: () => undefined,
      },
    });
    await lab.acknowledged();
    await until(() => lab.client.isClaimed('its-own'));
    lab.server.agent('its-own', 'assistant', { text: 'ab' });
    lab.server.agent('its-own', 'lifecycle', { phase: 'end' });
    await turn;
    await lab.settled();
    expect(lab.bridge.stats().bridged).toBe(0);
    expect(lab.count('agent.starting')).toBe(1);
    expect(lab.count('agent.completed')).toBe(1);
    lab.server.agent('its-own', 'tool', { phase: 'start', name: 'late', toolCallId: 't-9' });
    await lab.settled();
    expect(lab.bridge.stats().bridged).toBe(0);
    expect(lab.client.stats().claimedRuns).toBe(0);
  });

  it('tells a run of triggerStream outside of a turn (stream §7.1)', async () => {
    await using lab = await bridgeLab();
    const { deltas } = await lab.asked();
    lab.server.agent('r-1', 'assistant', { text: 'yes' });
    lab.server.agent('r-1', 'lifecycle', { phase: 'end' });
    expect((await deltas).at(-1)).toEqual({ phase: 'final', content: 'yes' });
    await until(() => lab.count('agent.completed') === 1);
    expect(lab.bridge.stats().bridged).toBe(1);
  });

  it('begins no ended run anew, and reads no event twice (stream §7.3; fault 42)', async () => {
    await using lab = await bridgeLab();
    lab.server.agent('r-x', 'assistant', { text: 'yes', delta: 'yes' });
    lab.server.agent('r-x', 'assistant', { text: 'no', delta: 'no' }, { seq: 1 });
    lab.server.agent(
      'r-x',
      'error',
      { reason: 'seq gap', expected: 2, received: 4 },
      { seq: undefined },
    );
    lab.server.agent('r-x', 'lifecycle', { phase: 'end' });
    await until(() => lab.count('agent.completed') === 1);
    lab.server.agent('r-x', 'tool', { phase: 'start', name: 'late', toolCallId: 't-9' });
    await lab.settled();
    expect(lab.bridge.stats()).toEqual({ runs: 0, bridged: 1, refused: 0 });
    const output = lab.test.outcomes.find(({ event }) => event.family === 'agent.llm.output');
    expect(output?.payload).toMatchObject({ assistantTexts: ['yes'] });
  });

  it.each([
    [
      'an aborted chat',
      { aborted: true, success: false },
      (lab: Lab) => lab.server.chat('r-x', 'aborted'),
    ],
    [
      'an error',
      { aborted: false, success: false, error: 'agent: no' },
      (lab: Lab) => lab.server.agent('r-x', 'error', { error: 'no' }),
    ],
    [
      'silence',
      { success: false, error: expect.stringContaining('600000 ms') },
      (lab: Lab) => lab.clock.advance(600_000),
    ],
    [
      'a client that is stopped',
      { success: false, error: expect.stringContaining('was stopped') },
      (lab: Lab) => lab.client.stop(),
    ],
    [
      'a bridge that is disposed',
      { aborted: true, success: false },
      (lab: Lab) => lab.bridge[Symbol.asyncDispose](),
    ],
  ])('ends a run with %s (stream §7.3)', async (_what, ending, end) => {
    await using lab = await bridgeLab({ server: { hello: { policy: {} } } }); // it may be silent
    lab.server.agent('r-x', 'assistant', { text: 'I am' });
    lab.server.agent('r-x', 'tool', { phase: 'start', name: 'read', toolCallId: 't-1' });
    await until(() => lab.count('agent.tool.calling') === 1);
    await end(lab);
    await until(() => lab.count('agent.completed') === 1);
    const completed = lab.test.outcomes.find(({ event }) => event.family === 'agent.completed');
    expect(completed?.payload).toMatchObject(ending);
    expect(lab.count('agent.tool.called')).toBe(1);
    expect(lab.bridge.stats().runs).toBe(0);
    await lab.client.stop();
    await until(() => lab.clock.pending === 0);
  });

  it('leaves out what is too much, counts it, and takes the next run when there is room (stream §7.3)', async () => {
    await using lab = await bridgeLab({ bridge: { maxRuns: 2 } });
    for (const run of ['a', 'b', 'c']) lab.server.agent(run, 'assistant', { text: 'x' });
    lab.server.agent('c', 'assistant', { text: 'xy' });
    await lab.settled();
    expect(lab.bridge.stats()).toEqual({ runs: 2, bridged: 2, refused: 1 });
    lab.server.agent('a', 'lifecycle', { phase: 'end' });
    await until(() => lab.bridge.stats().runs === 1);
    lab.server.agent('d', 'assistant', { text: 'x' });
    await until(() => lab.bridge.stats().bridged === 3);
  });

  it('outlives what cannot be dispatched: a run so nested that no payload takes it (§1.6)', async () => {
    await using lab = await bridgeLab();
    let args: Record<string, unknown> = {};
    for (let depth = 0; depth < 600; depth++) args = { args };
    lab.server.agent('r-x', 'tool', { phase: 'start', name: 'read', toolCallId: 't-1', args });
    lab.server.agent('r-y', 'assistant', { text: 'well' });
    lab.server.agent('r-y', 'lifecycle', { phase: 'end' });
    await until(() => lab.bridge.stats().bridged === 2 && lab.bridge.stats().runs === 0);
    expect(lab.count('agent.starting')).toBe(2);
    expect(lab.count('agent.completed')).toBe(2);
  });
});

type Lab = Awaited<ReturnType<typeof bridgeLab>>;
