import { describe, expect, it, vi } from 'vitest';
import { echoProvider, runAgentTurn } from '../../../src/agent/index.js';
import { cancel } from '../../../src/kernel/internal.js';
import {
  bridgeInternalHooks,
  createLegacyHookRunner,
  type LegacyHookName,
  type LegacyHookRunnerOptions,
  registerLegacyHook,
} from '../../../src/openclaw/index.js';
import { createInternalHookEvent } from '../../../src/openclaw/internal-hooks/event.js';
import {
  createTestKernel,
  samplePayload,
  type TestKernelOptions,
} from '../../../src/testing/index.js';

// biome-ignore lint/suspicious/noExplicitAny: plugins are not typed
type Handler = (event: any, ctx: any) => unknown;

function lab(kernelOptions: TestKernelOptions = {}, options: LegacyHookRunnerOptions = {}) {
  const test = createTestKernel(kernelOptions);
  const log: string[] = [];
  const line = (level: string) => (text: string) => void log.push(`${level} ${text}`);
  const logger = { warn: line('warn'), error: line('error') };
  const runner = createLegacyHookRunner(test.kernel, { logger, ...options });
  const on = (hookName: LegacyHookName, handler: Handler, pluginId = 'p', priority = 0) =>
    registerLegacyHook(test.kernel, { pluginId, hookName, handler, priority });
  const warnings = () => test.log.messages('warn');
  return { ...test, told: log, runner, on, warnings };
}

const sending = { to: 'C1', content: 'hi' };
const slack = { channelId: 'slack', accountId: 'a' };
const outbound = () => ({ ...samplePayload('egress.preparing'), explicit: true });
const never = () => new Promise<never>(() => undefined);

describe('one call of a handler, two contributions (§17.2)', () => {
  it('is given up as a whole where it is out of time, and what it answers later counts nowhere', async () => {
    const { kernel, clock, runner, on, told } = lab();
    let settle: (value: unknown) => void = () => undefined;
    const slow = vi.fn(() => new Promise((resolve) => (settle = resolve)));
    on('message_sending', slow, 'a', 1);
    on('message_sending', () => never(), 'b');
    const result = runner.runMessageSending(sending, slack);
    await clock.advance(15_000);
    settle({ content: 'late', cancel: true });
    await clock.advance(15_000);
    expect(await result).toBeUndefined();
    expect(slow).toHaveBeenCalledTimes(1);
    expect(told).toEqual([
      expect.stringContaining('handler from a failed: it took longer than 15000 ms'),
      expect.stringContaining("handler from b failed: the stage's budget of 30000 ms was spent"),
    ]);
    expect(kernel.stats().late).toBe(1);
  });

  it('answers nothing where the stage can only be observed, and is still called once (§10, gate)', async () => {
    const { kernel, on } = lab();
    const handler = vi.fn(() => ({ content: 'x', cancel: true }));
    on('message_sending', handler);
    const outcome = await kernel.dispatch('egress.preparing', outbound(), { gate: 'observe-only' });
    expect(outcome.payload.content).toBe(outbound().content);
    expect(outcome.failures.filter(({ extensionId }) => extensionId === 'p')).toHaveLength(2);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it('is not begun anew by an abort while it is under way', async () => {
    const { kernel, on } = lab();
    const handler = vi.fn(never);
    on('message_sending', handler);
    const controller = new AbortController();
    const outcome = kernel.dispatch('egress.preparing', outbound(), { signal: controller.signal });
    controller.abort();
    expect((await outcome).status).toBe('failed');
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it('is another call where the handler calls the runner again, on this kernel or another', async () => {
    const [one, other] = [lab(), lab()];
    const calls: string[] = [];
    other.on('message_sending', ({ content }) => ({ content: `${content} other` }));
    one.on('message_sending', async ({ content }) => {
      calls.push(content);
      if (calls.length > 1) return { content: `${content} inner` };
      const inner = await one.runner.runMessageSending({ to: 'C2', content: 'in' }, slack);
      const far = await other.runner.runMessageSending({ to: 'C2', content: 'far' }, slack);
      return { content: `${inner?.content}, ${far?.content}` };
    });
    expect(await one.runner.runMessageSending(sending, slack)).toEqual({
      content: 'in inner, far other',
    });
    expect(calls).toEqual(['hi', 'in']);
  });

  it('is finished where its plugin is unloaded meanwhile, and one that is registered meanwhile waits (§3.5)', async () => {
    const { runner, on } = lab();
    const late = vi.fn();
    const registration = on('message_sending', async () => {
      registration[Symbol.dispose]();
      on('message_sending', late, 'z');
      await null;
      return { content: 'done', cancel: true };
    });
    expect(await runner.runMessageSending(sending, slack)).toEqual({
      content: 'done',
      cancel: true,
    });
    expect(late).not.toHaveBeenCalled();
    expect(runner.getHookCount('message_sending')).toBe(1);
  });

  it('gives its message where a synchronous handler takes itself out', () => {
    const { runner, on } = lab();
    const registration = on('tool_result_persist', ({ message }) => {
      registration[Symbol.dispose]();
      return { message: { ...message, once: true } };
    });
    const message = { role: 'toolResult' };
    expect(runner.runToolResultPersist({ message }, {})).toEqual({
      message: { role: 'toolResult', once: true },
    });
    expect(runner.runToolResultPersist({ message }, {})).toBeUndefined();
  });

  it('is told as its failure where the answer cannot be read, and later handlers run', async () => {
    const { runner, on, told } = lab();
    const unreadable = (name: string) => ({
      get [name](): never {
        throw new Error(`no ${name}`);
      },
    });
    on('message_sending', () => unreadable('content'), 'a');
    on('message_sending', () => unreadable('then'), 'b');
    on('message_sending', () => new (class { get cancel() { return unreadable('x').x; } })(), 'c'); // biome-ignore format: one line
    on('message_sending', () => ({ content: 'fine' }), 'd');
    expect(await runner.runMessageSending(sending, slack)).toEqual({ content: 'fine' });
    expect(told).toEqual([
      'error [hooks] message_sending handler from a failed: Error: no content',
      'error [hooks] message_sending handler from b failed: Error: no then',
      'error [hooks] message_sending handler from c failed: Error: no x',
    ]);
  });
});

describe('ties inside a plugin (§17.3)', () => {
  it('keep their order past the ten thousandth registration', () => {
    const { kernel, on } = lab();
    on('gateway_stop', () => undefined);
    for (let i = 1; i < 9_999; i++) on('gateway_stop', () => undefined)[Symbol.dispose]();
    for (let i = 0; i < 3; i++) on('gateway_stop', () => undefined);
    const ids = kernel.plan('gateway.stopping').map(({ contributionId }) => contributionId);
    expect(ids).toEqual(['0000', '9999', '~000000010000', '~000000010001']);
  });
});

describe('the result of the legacy runner (§17.9)', () => {
  it('does not cancel what the pipeline passed: the operator disabled the veto', async () => {
    const { runner, on } = lab({ overrides: { 'p/0000.1': { disabled: true } } });
    on('message_sending', () => ({ content: 'x', cancel: true }));
    on('before_tool_call', () => ({ block: true }));
    expect(await runner.runMessageSending(sending, slack)).toEqual({ content: 'x', cancel: false });
  });

  it('blocks for the reason of who blocked', async () => {
    const { kernel, runner, on } = lab();
    on('before_tool_call', () => ({ block: false, blockReason: 'mine' }), 'p', 5);
    kernel.contribute({
      ...{ family: 'agent.tool.calling', class: 'veto', extensionId: 'x', id: 'no' },
      handler: () => cancel('policy', { text: 'theirs' }),
    });
    expect(
      await runner.runBeforeToolCall({ toolName: 't', params: {} }, { toolName: 't' }),
    ).toEqual({ block: true, blockReason: 'theirs' });
  });

  it('blocks where a canonical veto failed closed, for each hook that can refuse', async () => {
    const { kernel, runner } = lab();
    const broken = () => {
      throw new Error('x');
    };
    const veto = { class: 'veto', extensionId: 'x', failClosed: true, handler: broken } as const;
    kernel.contribute({ ...veto, family: 'egress.preparing', id: 'a' });
    kernel.contribute({ ...veto, family: 'agent.tool.calling', id: 'b' });
    kernel.contribute({ ...veto, family: 'transcript.message.writing', id: 'c' });
    kernel.contribute({ ...veto, family: 'subagent.spawning', id: 'd' });
    expect(await runner.runMessageSending(sending, slack)).toEqual({ cancel: true });
    const call = await runner.runBeforeToolCall({ toolName: 't', params: {} }, { toolName: 't' });
    expect(call).toMatchObject({ block: true });
    expect(runner.runBeforeMessageWrite({ message: { role: 'user' } }, {})).toEqual({
      block: true,
    });
    const child = {
      childSessionKey: 'c',
      agentId: 'a',
      mode: 'run',
      threadRequested: true,
    } as const;
    expect(await runner.runSubagentSpawning(child, {})).toMatchObject({ status: 'error' });
  });

  it('names no place that a canonical veto refused', async () => {
    const { kernel, runner, on } = lab();
    on('subagent_delivery_target', () => ({ origin: { channel: 'd', to: 'x' } }));
    kernel.contribute({
      ...{ family: 'subagent.delivery.resolving', class: 'veto', extensionId: 'x', id: 'no' },
      handler: () => cancel('policy'),
    });
    const child = {
      childSessionKey: 'c',
      requesterSessionKey: 'r',
      expectsCompletionMessage: true,
    };
    expect(await runner.runSubagentDeliveryTarget(child, {})).toBeUndefined();
  });

  it('holds the files that canonical handlers add to the prompt', async () => {
    const { kernel, runner, on } = lab();
    kernel.contribute({
      ...{ family: 'agent.prompt.building', class: 'mutator', extensionId: 'x', id: 'files' },
      handler: () => ({ bootstrapFiles: [{ name: 'TEAM.md', content: 'Be kind.' }] }),
    });
    on('before_prompt_build', () => ({ appendSystemContext: 'last' }));
    expect(await runner.runBeforePromptBuild({ prompt: 'p', messages: [] }, {})).toEqual({
      appendSystemContext: '## TEAM.md\n\nBe kind.\n\nlast',
    });
  });

  it('counts whom a call reaches: no disabled handler, no other band, nobody for an unknown name', () => {
    const { kernel, runner, on } = lab({ overrides: { 'p/0000': { disabled: true } } });
    on('message_received', () => undefined);
    expect(runner.hasHooks('message_received')).toBe(false);
    kernel.contribute({
      ...{ family: 'agent.prompt.building', class: 'mutator', extensionId: 'x', id: 'last' },
      band: 'last',
      handler: () => null,
    });
    expect(runner.hasHooks('before_prompt_build')).toBe(false);
    expect(runner.getHookCount('before_agent_start')).toBe(1);
    for (const name of ['inbound_claim', 'constructor'])
      expect(runner.hasHooks(name as LegacyHookName)).toBe(false);
  });
});

describe('an event that handlers write to (§17.5)', () => {
  it('counts beside a parameter that cannot be copied, and a live one that is handed back is no change', async () => {
    const { kernel, runner, on, told } = lab();
    const seen: unknown[] = [];
    on('before_tool_call', ({ params }) => void (params.path = '/tmp'), 'a');
    on('before_tool_call', ({ params }) => ({ params: { ...params, mode: 'w' } }), 'b');
    kernel.contribute({
      ...{ family: 'agent.tool.calling', class: 'observer', extensionId: 'x', id: 'see' },
      priority: -1,
      handler: ({ payload }) => void seen.push((payload as { params: unknown }).params),
    });
    const params = { path: '/', signal: new AbortController().signal };
    const call = await runner.runBeforeToolCall({ toolName: 't', params }, { toolName: 't' });
    expect(call).toEqual({ params: { path: '/tmp', mode: 'w' } });
    expect(seen).toEqual([{ path: '/tmp', mode: 'w' }]);
    expect(told).toEqual([]);
  });

  it('can be written to at any depth', async () => {
    const { kernel, on, warnings } = lab();
    on('message_sending', ({ metadata }) => void metadata.tags.push('x'));
    on('message_received', ({ metadata }) => void metadata.tags.push('x'), 'q');
    const metadata = { tags: ['a'] };
    const sent = await kernel.dispatch('egress.preparing', { ...outbound(), metadata });
    const message = samplePayload('ingress.normalized');
    const received = await kernel.dispatch('ingress.normalized', { ...message, metadata });
    expect([...sent.failures, ...received.failures]).toEqual([]);
    expect(warnings()).toHaveLength(2);
  });

  it('is told where a synchronous handler writes to its copy', () => {
    const { runner, on, warnings } = lab();
    on('before_message_write', (event) => void (event.message = { role: 'user', content: 'x' }));
    expect(runner.runBeforeMessageWrite({ message: { role: 'user' } }, {})).toBeUndefined();
    expect(warnings()[0]).toContain('changed message of its before_message_write event in place');
  });

  it('is told of who wrote, also where the next handler settles first', async () => {
    const { runner, on, warnings } = lab();
    const writes: Handler = async (event) => {
      event.content = 'x';
      await null;
    };
    on('message_received', writes, 'a');
    on('message_received', () => undefined, 'b');
    await runner.runMessageReceived({ from: 'u', content: 'c' }, slack);
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]).toContain('plugin a changed content');
  });
});

describe('before_agent_start over whole runs (§17.7)', () => {
  const turn = (test: ReturnType<typeof lab>, runId: string) =>
    runAgentTurn({
      ...{ kernel: test.kernel, clock: test.clock, provider: echoProvider(), runId },
      message: { text: `hello ${runId}` },
      session: {
        ...{ agentId: 'main', sessionKey: runId, sessionId: runId, history: [] },
        append: () => undefined,
      },
    });

  it('keeps the answers of runs apart that are under way at once', async () => {
    const test = lab();
    const calls: string[] = [];
    test.on('before_agent_start', async ({ prompt }) => {
      calls.push(prompt);
      await null;
      return { prependContext: `context of ${prompt}` };
    });
    await Promise.all([turn(test, 'r-1'), turn(test, 'r-2')]);
    expect(calls.sort()).toEqual(['hello r-1', 'hello r-2']);
    const prompts = test.outcomes.filter(({ event }) => event.family === 'agent.llm.input');
    expect(prompts.map(({ payload }) => (payload as { prompt: string }).prompt).sort()).toEqual([
      'context of hello r-1\n\nhello r-1',
      'context of hello r-2\n\nhello r-2',
    ]);
  });

  it('asks again where the plugin whose answer stood has been unloaded', async () => {
    const { kernel, on } = lab();
    const gone = on('before_agent_start', () => ({ prependContext: 'gone' }), 'a');
    const stays = vi.fn((_event: unknown) => undefined);
    on('before_agent_start', stays, 'b');
    const model = { ...samplePayload('agent.model.resolving'), runId: 'r' };
    await kernel.dispatch('agent.model.resolving', model);
    gone[Symbol.dispose]();
    const prompt = { ...samplePayload('agent.prompt.building'), runId: 'r', additions: [] };
    const built = await kernel.dispatch('agent.prompt.building', prompt);
    expect(built.payload.additions).toEqual([]);
    expect(stays).toHaveBeenCalledTimes(2);
  });

  it('goes by the correlation where a run has no id', async () => {
    const { kernel, on } = lab();
    const handler = vi.fn(() => ({ prependContext: 'c' }));
    on('before_agent_start', handler);
    const { runId: _, ...model } = samplePayload('agent.model.resolving');
    const { runId: __, ...prompt } = { ...samplePayload('agent.prompt.building'), additions: [] };
    const after = await kernel.dispatch('agent.model.resolving', model);
    const built = await kernel.dispatch('agent.prompt.building', prompt, { after });
    expect(built.payload.additions).toEqual([{ text: 'c', position: 'before' }]);
    expect(handler).toHaveBeenCalledTimes(1);
    await kernel.dispatch('agent.prompt.building', { ...prompt });
    expect(handler).toHaveBeenCalledTimes(2);
  });

  it('forgets an answer that came too late for its stage', async () => {
    const { kernel, clock, on } = lab();
    let settle: (value: unknown) => void = () => undefined;
    const handler = vi.fn(() => new Promise((resolve) => (settle = resolve)));
    on('before_agent_start', handler);
    const model = { ...samplePayload('agent.model.resolving'), runId: 'r' };
    const resolved = kernel.dispatch('agent.model.resolving', model);
    await clock.advance(15_000);
    await resolved;
    settle({ prependContext: 'late' });
    await clock.advance(1);
    handler.mockImplementation(() => Promise.resolve({ prependContext: 'in time' }));
    const prompt = { ...samplePayload('agent.prompt.building'), runId: 'r', additions: [] };
    const built = await kernel.dispatch('agent.prompt.building', prompt);
    expect(built.payload.additions).toEqual([{ text: 'in time', position: 'before' }]);
  });
});

describe('a fact that another bus has told of (§17.11)', () => {
  it('is waited for as long as its slowest handler takes, and its failures are told', async () => {
    const { kernel, clock, runner, on, told } = lab();
    const internal = bridgeInternalHooks(kernel, { clock });
    let settle = (): void => undefined;
    const seen: string[] = [];
    on('message_received', async ({ content }) => {
      seen.push(content);
      await new Promise<void>((resolve) => (settle = resolve));
      throw new Error('x');
    });
    const fields = { from: 'u', content: 'hi', timestamp: 5 };
    const context = { ...fields, ...slack, messageId: 'm', metadata: {} };
    await internal.triggerInternalHook(
      createInternalHookEvent('message', 'received', 'agent:main:main', context),
    );
    let isDone = false;
    const done = runner
      .runMessageReceived({ ...fields, metadata: { messageId: 'm' } }, slack)
      .then(() => (isDone = true));
    for (let i = 0; i < 20; i++) await null;
    expect([seen, isDone]).toEqual([['hi'], false]);
    settle();
    await done;
    expect(seen).toEqual(['hi']);
    expect(told).toEqual(['error [hooks] message_received handler from p failed: Error: x']);
  });
});

describe('what a host or a plugin gets wrong (§17.10)', () => {
  it('is told, and the runner neither rejects nor throws', async () => {
    const { runner, on, told } = lab();
    const handler = vi.fn();
    on('message_received', handler);
    on('tool_result_persist', handler);
    for (const wrong of [undefined, null, 'text', [], {}]) {
      expect(await runner.runMessageReceived(wrong as never, wrong as never)).toBeUndefined();
      expect(runner.runToolResultPersist(wrong as never, wrong as never)).toBeUndefined();
    }
    expect(handler).not.toHaveBeenCalled();
    expect(told).toHaveLength(10);
    expect(told[0]).toBe(
      'error [hooks] message_received was not run: TypeError: its event and its context have to be objects',
    );
  });

  it('keeps a message whose ids are numbers, and what is no text in its metadata', async () => {
    const { runner, on, outcomes, told } = lab();
    const handler = vi.fn();
    on('message_received', handler);
    const metadata = { threadId: 17, messageId: 7, senderId: 9, senderName: { first: 'Ada' } };
    const event = { from: 'u', content: 'c', timestamp: Number.NaN, metadata };
    await runner.runMessageReceived(event, { channelId: 'telegram' });
    expect(handler).toHaveBeenCalledWith(event, { channelId: 'telegram' });
    expect(outcomes[0]?.payload).toMatchObject({
      ...{ threadId: 17, messageId: '7', sender: { id: '9' } },
      metadata: { senderName: { first: 'Ada' } },
    });
    expect(told).toEqual([]);
  });

  it('is no failure of a run where a clock stepped back or a count is not known', async () => {
    const { runner, on, told } = lab();
    const handler = vi.fn();
    on('agent_end', handler);
    on('before_compaction', handler);
    await runner.runAgentEnd({ messages: [], success: true, durationMs: -3 }, {});
    await runner.runBeforeCompaction({ messageCount: -1, tokenCount: 12.5 }, {});
    expect(handler).toHaveBeenCalledTimes(2);
    expect(told).toEqual([]);
  });

  it('is refused by name when a handler is registered (bad-contribution)', () => {
    const { on } = lab();
    expect(() => on('message_sent2' as LegacyHookName, () => undefined)).toThrow(
      'there is no such hook; did you mean "message_sent"?',
    );
    expect(() => on('message_sent', undefined as never)).toThrow('handler must be a function');
  });

  it('survives a logger that throws', async () => {
    const broken = () => {
      throw new Error('disk full');
    };
    const { runner, on } = lab({}, { logger: { debug: broken, warn: broken, error: broken } });
    on('message_sending', broken, 'a');
    on('message_sending', () => ({ content: 'x' }), 'b');
    expect(await runner.runMessageSending(sending, slack)).toEqual({ content: 'x' });
  });
});

describe('with catchErrors: false', () => {
  it('a void hook rejects at the first failure, and the others were started', async () => {
    const { runner, on } = lab({}, { catchErrors: false });
    const other = vi.fn(never);
    on('agent_end', () => Promise.reject(new Error('x')), 'a');
    on('agent_end', other, 'b');
    await expect(runner.runAgentEnd({ messages: [], success: true }, {})).rejects.toThrow(
      '[hooks] agent_end handler from a failed: Error: x',
    );
    expect(other).toHaveBeenCalledTimes(1);
  });

  it('a refused answer and one that is out of time reject as well', async () => {
    const { runner, on, clock } = lab({}, { catchErrors: false });
    const wrong = on('before_model_resolve', () => ({ modelOverride: 42 }));
    await expect(runner.runBeforeModelResolve({ prompt: 'p' }, {})).rejects.toThrow(
      'from p failed',
    );
    wrong[Symbol.dispose]();
    on('before_model_resolve', never);
    const hanging = runner.runBeforeModelResolve({ prompt: 'p' }, {});
    const rejected = expect(hanging).rejects.toThrow('took longer than');
    await clock.advance(15_000);
    await rejected;
  });
});

describe('a trusted plugin (§17.8)', () => {
  it('does not make an extension of the same name trusted', async () => {
    const { kernel } = lab();
    registerLegacyHook(
      kernel,
      { pluginId: 'p', hookName: 'before_prompt_build', handler: () => ({ systemPrompt: 'mine' }) },
      { trusted: true },
    );
    kernel.contribute({
      ...{ family: 'agent.prompt.building', class: 'mutator', extensionId: 'p', id: 'other' },
      handler: () => ({ systemPrompt: 'taken' }),
    });
    const built = await kernel.dispatch(
      'agent.prompt.building',
      samplePayload('agent.prompt.building'),
    );
    expect(built.payload.systemPrompt).toBe('mine');
    expect(built.failures.map(({ kind }) => kind)).toEqual(['untrusted']);
  });
});
