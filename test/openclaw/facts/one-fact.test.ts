import { describe, expect, it, vi } from 'vitest';
import { bridgeAgentEvents } from '../../../src/openclaw/agent-events/bridge-agent-events.js';
import type { LegacyHookName } from '../../../src/openclaw/index.js';
import { createLegacyHookRunner, registerLegacyHook } from '../../../src/openclaw/index.js';
import { bridgeInternalHooks } from '../../../src/openclaw/internal-hooks/bridge-internal-hooks.js';
import { createInternalHookEvent } from '../../../src/openclaw/internal-hooks/event.js';
import { createTestKernel } from '../../../src/testing/index.js';

/** A kernel with all three legacy buses, as a legacy host would call them. */
function lab() {
  const test = createTestKernel();
  const runner = createLegacyHookRunner(test.kernel);
  const internal = bridgeInternalHooks(test.kernel, { clock: test.clock });
  const agent = bridgeAgentEvents(test.kernel, { clock: test.clock });
  const on = (hookName: LegacyHookName) => {
    const handler = vi.fn();
    registerLegacyHook(test.kernel, { pluginId: 'acme', hookName, handler });
    return handler;
  };
  const hear = (key: string) => {
    const handler = vi.fn();
    internal.registerInternalHook(key, handler);
    return handler;
  };
  const families = () => test.outcomes.map(({ event }) => event.family);
  return { ...test, runner, internal, agent, on, hear, families };
}

const channel = { channelId: 'telegram', accountId: 'default', conversationId: 'telegram:1' };

const received = (messageId: string) => ({
  hook: [{ from: 'telegram:1', content: 'hi', timestamp: 5, metadata: { messageId } }, channel],
  key: createInternalHookEvent('message', 'received', 'agent:main:main', {
    from: 'telegram:1',
    content: 'hi',
    timestamp: 5,
    ...channel,
    messageId,
    metadata: {},
  }),
});

describe('one fact that two buses tell of', () => {
  it.each(['hook first', 'key first'])(
    'is one received message, and every handler is called once: %s',
    async (order) => {
      const { runner, internal, on, hear, families } = lab();
      const [plugin, key] = [on('message_received'), hear('message:received')];
      for (const id of ['m-1', 'm-2']) {
        const message = received(id);
        const [event, ctx] = message.hook as [never, never];
        const tell = [
          () => runner.runMessageReceived(event, ctx),
          () => internal.triggerInternalHook(message.key),
        ];
        for (const one of order === 'hook first' ? tell : tell.toReversed()) await one();
      }
      expect(families()).toEqual(['ingress.normalized', 'ingress.normalized']);
      expect(plugin).toHaveBeenCalledTimes(2);
      expect(key).toHaveBeenCalledTimes(2);
      expect(key.mock.calls[0]?.[0]).toMatchObject({
        type: 'message',
        action: 'received',
        context: { from: 'telegram:1', content: 'hi', channelId: 'telegram', messageId: 'm-1' },
      });
    },
  );

  it('settles on the later bus when the handlers have, that were called in the dispatch of the first', async () => {
    const { runner, internal } = lab();
    let ended = false;
    internal.registerInternalHook('message:received', async () => {
      await new Promise<void>((resolve) => setImmediate(resolve));
      ended = true;
    });
    const { hook, key } = received('m-1');
    const [event, ctx] = hook as [never, never];
    void runner.runMessageReceived(event, ctx);
    await internal.triggerInternalHook(key);
    expect(ended).toBe(true);
    expect(internal.stats()).toMatchObject({ joined: 1, dispatched: 0 });
  });

  it('is one sent message, or one that could not be sent', async () => {
    const { runner, internal, on, hear, families } = lab();
    const [plugin, key] = [on('message_sent'), hear('message:sent')];
    for (const success of [true, false]) {
      const sent = { to: '1', content: 'Hello', success, ...(!success && { error: 'gone' }) };
      await runner.runMessageSent(sent, channel);
      await internal.triggerInternalHook(
        createInternalHookEvent('message', 'sent', 'k', { ...sent, ...channel, messageId: 'm-9' }),
      );
    }
    expect(families()).toEqual(['egress.sent', 'egress.failed']);
    expect(plugin).toHaveBeenCalledTimes(2);
    expect(key).toHaveBeenCalledTimes(2);
    expect(key.mock.calls[1]?.[0].context).toMatchObject({ success: false, error: 'gone' });
  });

  it('is one compaction, told by an agent event and then by its hook, which may not name it', async () => {
    const { runner, agent, on, families } = lab();
    const [before, after] = [on('before_compaction'), on('after_compaction')];
    const compaction = (phase: string, more = {}) =>
      agent.emitAgentEvent({
        runId: 'r-1',
        stream: 'compaction',
        data: { phase, ...more },
        sessionKey: 'k',
      });
    compaction('start');
    await runner.runBeforeCompaction({ messageCount: 9 }, { sessionKey: 'k' });
    compaction('end', { willRetry: false });
    await runner.runAfterCompaction({ messageCount: 3, compactedCount: 1 }, {});
    await agent.idle();
    expect(families()).toEqual(['compaction.before', 'compaction.after']);
    expect(before).toHaveBeenCalledTimes(1);
    expect(after).toHaveBeenCalledTimes(1);
  });

  it('is one compaction, told by its internal key and then by its hook', async () => {
    const { runner, internal, on, hear, families } = lab();
    const [hook, key] = [on('before_compaction'), hear('session:compact:before')];
    const ids = { sessionId: 's-1', missingSessionKey: true };
    await internal.triggerInternalHook(
      createInternalHookEvent('session', 'compact:before', 's-1', { ...ids, messageCount: 9 }),
    );
    await runner.runBeforeCompaction(
      { messageCount: 9 },
      { sessionId: 's-1', sessionKey: 's-1', agentId: 'main' },
    );
    expect(families()).toEqual(['compaction.before']);
    expect(hook).toHaveBeenCalledTimes(1);
    expect(key).toHaveBeenCalledTimes(1);
  });

  it('is one start of the gateway; handlers of gateway:startup get their own event, with the configuration', async () => {
    const { runner, internal, on, hear, families } = lab();
    const [hook, key] = [on('gateway_start'), hear('gateway:startup')];
    await runner.runGatewayStart({ port: 18_789 }, { port: 18_789 });
    expect(key).not.toHaveBeenCalled();
    const cfg = { hooks: {} };
    await internal.triggerInternalHook(
      createInternalHookEvent('gateway', 'startup', 'gateway:startup', { cfg, workspaceDir: '/w' }),
    );
    expect(families()).toEqual(['gateway.started']);
    expect(hook).toHaveBeenCalledTimes(1);
    expect(key).toHaveBeenCalledTimes(1);
    expect(key.mock.calls[0]?.[0].context.cfg).toBe(cfg);
  });
});

describe('a run of a host that calls the hook runner', () => {
  it('calls the handlers of agent:bootstrap with their own event, and not with before_prompt_build', async () => {
    const { runner, internal, hear, families } = lab();
    const key = hear('agent:bootstrap');
    await internal.triggerInternalHook(
      createInternalHookEvent('agent', 'bootstrap', 'k', { bootstrapFiles: [] }),
    );
    await runner.runBeforePromptBuild({ prompt: 'hi', messages: [] }, { sessionKey: 'k' });
    expect(families()).toEqual(['agent.prompt.building']);
    expect(key).toHaveBeenCalledTimes(1);
  });

  it('is dispatched by the hooks where they can answer or know more, and by agent events elsewhere', async () => {
    const { runner, agent, on, families, kernel } = lab();
    const [calling, called, end, output] = [
      on('before_tool_call'),
      on('after_tool_call'),
      on('agent_end'),
      on('llm_output'),
    ];
    calling.mockReturnValue({ block: true, blockReason: 'no' });
    const heard = vi.fn();
    agent.onAgentEvent(heard);
    const emit = (stream: string, data: Record<string, unknown>) =>
      agent.emitAgentEvent({ runId: 'r-1', stream, data });
    const tool = { name: 'exec', toolCallId: 't-1' };
    const ctx = { toolName: 'exec', runId: 'r-1', toolCallId: 't-1' };
    emit('lifecycle', { phase: 'start', startedAt: 1 });
    emit('lifecycle', { phase: 'fallback', activeProvider: 'p', activeModel: 'm' });
    emit('tool', { phase: 'start', ...tool, args: { a: 1 } });
    const answer = await runner.runBeforeToolCall({ toolName: 'exec', params: { a: 1 } }, ctx);
    emit('tool', { phase: 'result', ...tool, isError: true });
    await runner.runAfterToolCall({ toolName: 'exec', params: { a: 1 }, error: 'no' }, ctx);
    emit('lifecycle', { phase: 'end', endedAt: 2 });
    await runner.runAgentEnd({ messages: [], success: true }, { sessionKey: 'k' });
    await agent.idle();
    expect(answer).toMatchObject({ block: true, blockReason: 'no' });
    expect(families()).toEqual([
      'agent.starting',
      'agent.llm.output',
      'agent.tool.calling',
      'agent.tool.called',
      'agent.completed',
    ]);
    for (const handler of [calling, called, end]) expect(handler).toHaveBeenCalledTimes(1);
    expect(output).not.toHaveBeenCalled(); // a fallback is no answer of a model
    expect(heard).toHaveBeenCalledTimes(5); // those that were emitted, and none of the hooks'
    expect(kernel.stats().failedOpen).toBe(0);
  });
});
