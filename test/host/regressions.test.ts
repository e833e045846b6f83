import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../src/agent/index.js';
import { resultText } from '../../src/agent/run/judged/tool-result.js';
import { createHost } from '../../src/host/index.js';
import { memoryStore } from '../../src/journal/index.js';
import type { SendResult } from '../../src/sdk/channel/index.js';
import { defineExtension } from '../../src/sdk/extension/index.js';
import type { AgentProvider } from '../../src/sdk/stream/index.js';
import { createTestKernel } from '../../src/testing/index.js';
import { hostLab } from '../support/host-lab.js';
import { scriptedChannel } from '../support/scripted-channel.js';

describe('what went wrong once', () => {
  it.each([
    { status: 'ok' },
    { status: 'retry-after', retryAfterMs: Number.NaN },
    { status: 'retry-after', retryAfterMs: -1 },
    'sent',
  ])(
    'an answer that is none was taken as leave to send again, for ever: %o (§14.3)',
    async (answer) => {
      let sends = 0;
      const channel = scriptedChannel({
        send: async (permit) => {
          permit.take();
          sends++;
          return answer as unknown as SendResult;
        },
      });
      await using lab = await hostLab({ channel });
      await lab.say('hello');
      expect(sends).toBe(lab.of('egress.preparing').length);
      expect(lab.of('egress.failed')).toHaveLength(sends);
    },
  );

  it('a message went out although it was aborted while egress.sending was dispatched (§14.4)', async () => {
    const channel = scriptedChannel();
    const controller = new AbortController();
    await using lab = await hostLab({
      channel,
      contribute: (kernel) =>
        void kernel.contribute({
          family: 'egress.sending',
          class: 'observer',
          extensionId: 'test',
          id: 'stop',
          handler: () => controller.abort(),
        }),
    });
    const { signal } = controller;
    const report = await lab.host.send({
      channel: 'scripted',
      accountId: 'default',
      to: 'ada',
      content: 'too late',
      signal,
    });
    expect(report.status).toBe('failed');
    expect(channel.sent).toEqual([]);
    expect(lab.of('egress.failed')).toHaveLength(1);
  });

  it('a host whose start failed early never stopped', async () => {
    const { kernel } = createTestKernel();
    const options = { kernel, agents: [{ id: 'main', provider: echoProvider() }] };
    const first = createHost({ ...options, channels: [scriptedChannel()] });
    await first.start();
    const second = createHost({ ...options, channels: [scriptedChannel()] });
    await expect(second.start()).rejects.toMatchObject({ code: 'duplicate-contribution' });
    await second.stop();
    await expect(second.stopped).resolves.toMatchObject({ drained: true });
    expect(second.state).toBe('stopped');
    await first.stop();
  });

  it('a host whose start failed early kept its extensions and its store', async () => {
    const { kernel } = createTestKernel();
    const first = createHost({
      kernel,
      agents: [{ id: 'main', provider: echoProvider() }],
      channels: [scriptedChannel()],
    });
    await first.start();
    const extension = defineExtension({
      id: 'probe',
      setup: (api) => void api.observe('egress.sent', 'seen', () => undefined),
    });
    let closed = 0;
    const second = createHost({
      kernel,
      agents: [{ id: 'main', provider: echoProvider() }],
      channels: [scriptedChannel()],
      extensions: [{ extension }],
      store: { ...memoryStore(), close: async () => void closed++ },
    });
    await expect(second.start()).rejects.toMatchObject({ code: 'duplicate-contribution' });
    expect(kernel.plan('egress.sent')).toEqual([]);
    expect(closed).toBe(1);
    await first.stop();
  });

  it('a host that never started did not close its store', async () => {
    let closed = 0;
    const host = createHost({
      agents: [{ id: 'main', provider: echoProvider() }],
      channels: [scriptedChannel()],
      store: { ...memoryStore(), close: async () => void closed++ },
    });
    await host.stop();
    await host.stop();
    expect(closed).toBe(1);
    expect(host.state).toBe('stopped');
  });

  it('an onAmbiguousSend that throws hid the cause and the attempts', async () => {
    let asked = 0;
    const channel = scriptedChannel({
      resendPolicy: { ambiguous: 'ask' },
      send: async (permit) => {
        permit.take();
        return { status: 'ambiguous', reason: 'lost' };
      },
    });
    await using lab = await hostLab({
      channel,
      onAmbiguousSend: async () => {
        if (++asked === 1) return 'resend';
        throw new Error('nobody knows');
      },
    });
    await lab.host.send({
      channel: 'scripted',
      accountId: 'default',
      to: 'ada',
      content: 'hello',
    });
    expect(lab.of('egress.failed').map(({ event }) => event.payload)).toMatchObject([
      { cause: 'ambiguous', error: 'lost', attempts: 2 },
    ]);
  });

  it.each([
    { status: 'ambiguous', reason: 'lost' },
    { status: 'retry-after', retryAfterMs: 0 },
  ] as const)('a channel without a limit of attempts sent for ever: $status', async (answer) => {
    let sends = 0;
    const channel = scriptedChannel({
      resendPolicy: { ambiguous: 'resend', maxAttempts: Number.NaN },
      deduplicatesSends: true,
      send: async (permit) => {
        permit.take();
        return ++sends < 20 ? answer : { status: 'rejected', reason: 'enough' };
      },
    });
    await using lab = await hostLab({ channel });
    const sending = lab.host.send({
      channel: 'scripted',
      accountId: 'default',
      to: 'ada',
      content: 'hello',
    });
    await lab.clock.advance(1_000);
    expect(await sending).toMatchObject({ status: 'failed', attempts: 1 });
  });

  it.each([
    ['a bigint', { n: 1n }],
    ['a function', { run: () => undefined }],
    ['a cycle', cyclicValue()],
  ])('a tool result with %s ended the message', async (_what, result) => {
    const provider: AgentProvider = {
      id: 'tools',
      models: ['m'],
      toolGate: 'observe-only',
      async *run() {
        yield { type: 'tool_execution_start', toolCallId: 't', toolName: 'x', args: {} };
        yield {
          type: 'tool_execution_end',
          toolCallId: 't',
          toolName: 'x',
          result,
          isError: false,
        };
        yield {
          type: 'message_end',
          message: { role: 'assistant', content: [{ type: 'text', text: 'done' }] },
        };
        yield { type: 'agent_end', messages: [] };
      },
    };
    await using lab = await hostLab({ agents: [{ id: 'main', provider }] });
    expect(await lab.say('go')).toMatchObject({ status: 'answered' });
    expect(lab.texts()).toEqual(['done']);
  });

  it('a tool result that JSON cannot hold ended the turn', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    expect(resultText({ n: 1n })).toBe('{"n":"1"}');
    expect(resultText(cyclic)).toMatch(/cannot be written/);
  });
});

function cyclicValue(): unknown {
  const value: Record<string, unknown> = {};
  value['self'] = value;
  return value;
}
