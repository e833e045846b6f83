import { describe, expect, it, vi } from 'vitest';
import { cancel, createKernel, type KernelOptions } from '../../../src/kernel/internal.js';
import {
  bridgeAgentEvents,
  bridgeInternalHooks,
  createLegacyHookRunner,
  type LegacyEvent,
  type LegacyHookName,
  registerLegacyHook,
} from '../../../src/openclaw/index.js';
import { collectingLogger, samplePayload } from '../../../src/testing/index.js';

type Handler = (event: Record<string, unknown>, ctx: Record<string, unknown>) => unknown;

/** A kernel with a legacy runner, and a short way to add a handler. */
function lab({
  overrides = {},
  ...options
}: { catchErrors?: boolean } & Pick<KernelOptions, 'overrides'> = {}) {
  const kernel = createKernel({ trace: true, overrides });
  const log: string[] = [];
  const line = (level: string) => (text: string) => void log.push(`${level} ${text}`);
  const logger = { debug: line('debug'), warn: line('warn'), error: line('error') };
  const runner = createLegacyHookRunner(kernel, { logger, ...options });
  const on = (
    hookName: LegacyHookName,
    handler: Handler,
    {
      pluginId = 'p',
      priority,
      trusted,
    }: { pluginId?: string; priority?: number; trusted?: boolean } = {},
  ) =>
    registerLegacyHook(
      kernel,
      { pluginId, hookName, handler, ...(priority !== undefined && { priority }) },
      { trusted: trusted ?? false },
    );
  return { kernel, runner, on, log };
}

const sending = { to: 'C1', content: 'hi' };
const slack = { channelId: 'slack', accountId: 'a' };

describe('without a kernel', () => {
  it.each([
    ['createLegacyHookRunner', createLegacyHookRunner],
    ['bridgeInternalHooks', bridgeInternalHooks],
    ['bridgeAgentEvents', bridgeAgentEvents],
  ])('%s says what it wants', (_, make) => {
    const call = make as (kernel?: unknown) => unknown; // as JavaScript calls it
    for (const given of [undefined, null, { logger: {} }, 'kernel'])
      expect(() => call(given)).toThrow(
        expect.objectContaining({
          code: 'bad-option',
          message: expect.stringContaining('the first argument is no kernel'),
        }),
      );
  });
});

describe('a legacy handler in audit mode', () => {
  const audited = { mode: 'audit' } as const;
  const overrides = { 'p/0000.0': audited, 'p/0000.1': audited };

  it('answers the call of a legacy runner for nobody, and what it writes in place is its own (judgement §3.2)', async () => {
    const { runner, on } = lab({ overrides });
    const seen: unknown[] = [];
    on('before_tool_call', (event) => {
      Object.assign(event['params'] as object, { path: '/written' });
      return { params: { path: '/answered' }, block: true };
    });
    on('before_tool_call', ({ params }) => void seen.push(structuredClone(params)), {
      pluginId: 'q',
    });
    const call = { toolName: 'read', params: { path: '/tmp' } };
    expect(await runner.runBeforeToolCall(call, { toolName: 'read' })).toBeUndefined();
    expect(seen).toEqual([{ path: '/tmp' }]);
    expect(call.params).toEqual({ path: '/tmp' });
  });

  it('throws nothing at the host of a legacy runner (judgement §3.2)', async () => {
    const { runner, on, log } = lab({ overrides, catchErrors: false });
    const handler = vi.fn(() => {
      throw new Error('no');
    });
    on('message_sending', handler);
    expect(await runner.runMessageSending({ ...sending }, slack)).toBeUndefined();
    expect(handler).toHaveBeenCalledTimes(1);
    expect(log.filter((line) => line.startsWith('error'))).toEqual([]);
  });
});

describe('a legacy handler on the canonical stages', () => {
  it('changes and cancels in one call: a mutator and a veto over one answer', async () => {
    const { runner, on } = lab();
    const handler = vi.fn(() => ({ content: 'bye', cancel: true }));
    on('message_sending', handler);
    expect(await runner.runMessageSending({ ...sending }, slack)).toEqual({
      content: 'bye',
      cancel: true,
    });
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it('shares one order and one outcome with canonical handlers', async () => {
    const { kernel, runner, on } = lab();
    const seen: string[] = [];
    const rewrite: Handler = ({ content }) => {
      seen.push(`legacy ${content}`);
      return { content: 'two' };
    };
    on('message_sending', rewrite, { priority: 5 });
    kernel.contribute({
      family: 'egress.preparing',
      class: 'mutator',
      extensionId: 'x',
      id: 'shout',
      handler: ({ payload }) => {
        seen.push(`canonical ${payload.content}`);
        return { content: payload.content.toUpperCase() };
      },
    });
    expect(await runner.runMessageSending({ ...sending }, slack)).toEqual({ content: 'TWO' });
    expect(seen).toEqual(['legacy hi', 'canonical two']);
    kernel.contribute({
      family: 'egress.preparing',
      class: 'veto',
      extensionId: 'x',
      id: 'no',
      handler: () => cancel('policy'),
    });
    expect(await runner.runMessageSending({ ...sending }, slack)).toMatchObject({ cancel: true });
  });

  it('is reached by dispatches that no legacy host makes, with an event made of the envelope', async () => {
    const { kernel, on } = lab();
    const events: unknown[] = [];
    on('message_sending', (event, ctx) => void events.push({ ...event }, ctx));
    const payload = {
      ...samplePayload('egress.preparing'),
      threadId: '17.5',
      to: 'C9',
      metadata: {},
    };
    await kernel.dispatch('egress.preparing', payload);
    expect(events[0]).toMatchObject({ to: 'C9', metadata: { threadId: '17.5', threadTs: '17.5' } });
  });

  it('still cancels when its patch was refused', async () => {
    const { runner, on, log } = lab();
    on('message_sending', () => ({ content: 42, cancel: true }));
    expect(await runner.runMessageSending({ ...sending }, slack)).toEqual({ cancel: true });
    expect(log.at(-1)).toContain('error [hooks] message_sending handler from p failed:');
  });

  it('is called by its veto half where the operator disabled the other', async () => {
    const kernel = createKernel({ overrides: { 'p/0000.0': { disabled: true } } });
    const runner = createLegacyHookRunner(kernel);
    const handler = vi.fn(() => ({ content: 'lost', cancel: true }));
    registerLegacyHook(kernel, { pluginId: 'p', hookName: 'message_sending', handler });
    expect(await runner.runMessageSending({ ...sending }, slack)).toMatchObject({ cancel: true });
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it('keeps its order within a plugin through the index in its id', async () => {
    const { kernel, on } = lab();
    for (let i = 0; i < 12; i++) on('message_sending', () => undefined);
    expect(kernel.plan('egress.preparing').map(({ contributionId }) => contributionId)).toEqual(
      Array.from({ length: 12 }, (_, i) => String(i).padStart(4, '0')).flatMap((id) => [
        `${id}.0`,
        `${id}.1`,
      ]),
    );
  });

  it('leaves nothing behind when it is disposed, or could not be registered', () => {
    const { kernel, runner, on } = lab();
    const before = kernel.stats().contributions;
    const registration = on('before_agent_start', () => undefined);
    expect(runner.hasHooks('before_agent_start')).toBe(true);
    registration[Symbol.dispose]();
    expect(() => on('before_tool_call', () => undefined, { priority: Number.NaN })).toThrow(
      'priority must be a finite number',
    );
    expect(kernel.stats().contributions).toBe(before);
    expect(runner.hasHooks('before_agent_start')).toBe(false);
    on('message_sending', () => undefined);
    expect(kernel.plan('egress.preparing')[0]?.contributionId).toBe('0000.0');
  });
});

describe('before_agent_start', () => {
  const answer = { modelOverride: 'm', prependContext: 'c' };

  it('runs after all others of both stages, once per run where it answers', async () => {
    const { kernel, on } = lab();
    const calls: unknown[] = [];
    const late: Handler = (event) => {
      calls.push(Object.keys(event));
      return answer;
    };
    on('before_agent_start', late, { priority: 99 });
    on('before_model_resolve', () => ({ modelOverride: 'first' }), { priority: -99 });
    const run = { ...samplePayload('agent.model.resolving'), runId: 'r1' };
    const resolved = await kernel.dispatch('agent.model.resolving', run);
    expect(resolved.payload.model).toBe('first');
    const prompt = { ...samplePayload('agent.prompt.building'), runId: 'r1', additions: [] };
    const built = await kernel.dispatch('agent.prompt.building', prompt);
    expect(built.payload.additions).toEqual([{ text: 'c', position: 'before' }]);
    expect(calls).toEqual([['prompt']]);
  });

  it('is called again with the messages where nobody answered in the first stage', async () => {
    const { kernel, on } = lab();
    const calls: string[][] = [];
    on('before_agent_start', (event) => void calls.push(Object.keys(event)));
    await kernel.dispatch('agent.model.resolving', {
      ...samplePayload('agent.model.resolving'),
      runId: 'r1',
    });
    const prompt = { ...samplePayload('agent.prompt.building'), runId: 'r1' };
    await kernel.dispatch('agent.prompt.building', prompt);
    await kernel.dispatch('agent.prompt.building', { ...prompt });
    expect(calls).toEqual([['prompt'], ['prompt', 'messages'], ['prompt', 'messages']]);
  });

  it('is all that its own runner method runs', async () => {
    const { kernel, runner, on } = lab();
    const canonical = vi.fn(() => null);
    for (const family of ['agent.model.resolving', 'agent.prompt.building'] as const)
      kernel.contribute({
        family,
        class: 'mutator',
        extensionId: 'x',
        id: family,
        handler: canonical,
      });
    const late = vi.fn(() => answer);
    on('before_agent_start', late);
    expect(await runner.runBeforeModelResolve({ prompt: 'p' }, {})).toBeUndefined();
    expect(late).not.toHaveBeenCalled();
    expect(await runner.runBeforeAgentStart({ prompt: 'p' }, {})).toEqual(answer);
    expect(late).toHaveBeenCalledTimes(1);
    await runner.runBeforePromptBuild({ prompt: 'p', messages: [] }, {});
    expect(canonical).toHaveBeenCalledTimes(2);
  });

  it('replaces the system prompt only for a trusted plugin, and keeps its other texts otherwise', async () => {
    const texts = { systemPrompt: 's', appendSystemContext: 'a' };
    for (const trusted of [true, false]) {
      const { runner, on, log } = lab();
      on('before_prompt_build', () => texts, { trusted });
      const result = await runner.runBeforePromptBuild({ prompt: 'p', messages: [] }, {});
      if (trusted) expect(result).toEqual(texts);
      else expect(log.join()).toContain('handler from p failed');
      if (!trusted) expect(result).not.toHaveProperty('systemPrompt');
    }
  });
});

describe('an event that handlers write to', () => {
  it('counts for the parameters of a tool call, as in the legacy caller', async () => {
    const { kernel, on } = lab();
    on('before_tool_call', ({ params }) => {
      (params as Record<string, unknown>).path = '/tmp';
    });
    const payload = {
      ...samplePayload('agent.tool.calling'),
      params: { path: '/', deep: { a: 1 } },
    };
    const outcome = await kernel.dispatch('agent.tool.calling', payload);
    expect(outcome.payload.params).toEqual({ path: '/tmp', deep: { a: 1 } });
    expect(outcome.event.payload.params).toEqual({ path: '/', deep: { a: 1 } });
    expect(outcome.changes.map(({ path }) => path)).toEqual(['params.path']);
  });

  it('is shared by the handlers of a dispatch, and told once per plugin where nobody reads it', async () => {
    const logger = collectingLogger();
    const kernel = createKernel({ logger });
    const runner = createLegacyHookRunner(kernel);
    const seen: unknown[] = [];
    const on = (handler: (event: LegacyEvent<'message_sending'>) => unknown) =>
      registerLegacyHook(kernel, { pluginId: 'p', hookName: 'message_sending', handler });
    on((event) => {
      event.content = 'in place';
    });
    on(({ content }) => void seen.push(content));
    const event = { ...sending };
    for (let i = 0; i < 2; i++) await runner.runMessageSending(event, slack);
    expect(seen).toEqual(['in place', 'in place']);
    const told = logger.messages('warn').filter((text) => text.includes('where nobody reads it'));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain('{ content }');
  });
});

describe('a void hook', () => {
  it('delays nobody, while the promise of the runner settles after its slowest handler', async () => {
    const { kernel, runner, on } = lab();
    const gate = deferred();
    on('message_received', () => gate.promise);
    const payload = { ...samplePayload('ingress.normalized'), messageId: 'other' };
    await kernel.dispatch('ingress.normalized', payload);
    let settled = false;
    const received = runner
      .runMessageReceived({ from: 'u', content: 'hi', metadata: { messageId: 'm' } }, slack)
      .then(() => {
        settled = true;
      });
    await Promise.resolve();
    expect(settled).toBe(false);
    gate.resolve();
    await received;
  });

  it('starts every handler in one tick, and reports each failure by itself', async () => {
    const { runner, on, log } = lab();
    const started: string[] = [];
    on('agent_end', async () => {
      started.push('a');
      throw new Error('x');
    });
    on('agent_end', () => {
      started.push('b');
      throw new TypeError('y');
    });
    on('agent_end', () => void started.push('c'));
    const done = runner.runAgentEnd({ messages: [], success: true }, {});
    expect(started).toEqual(['a', 'b', 'c']);
    await done;
    expect(log.filter((text) => text.startsWith('error')).sort()).toEqual([
      'error [hooks] agent_end handler from p failed: Error: x',
      'error [hooks] agent_end handler from p failed: TypeError: y',
    ]);
  });
});

describe('with catchErrors: false', () => {
  it('a failing handler rejects the call, and those after it are not run', async () => {
    const { runner, on } = lab({ catchErrors: false });
    const after = vi.fn();
    on('message_sending', () => {
      throw new Error('x');
    });
    on('message_sending', after);
    await expect(runner.runMessageSending({ ...sending }, slack)).rejects.toThrow(
      '[hooks] message_sending handler from p failed: Error: x',
    );
    expect(after).not.toHaveBeenCalled();
  });

  it('a synchronous hook throws', () => {
    const { runner, on } = lab({ catchErrors: false });
    on('before_message_write', () => Promise.resolve());
    expect(() => runner.runBeforeMessageWrite({ message: { role: 'user' } }, {})).toThrow(
      'returned a Promise',
    );
  });
});

describe('a malformed event', () => {
  it('is told and runs nobody; the runner does not reject, as hosts expect', async () => {
    const { runner, on, log } = lab();
    const handler = vi.fn();
    on('message_sending', handler);
    const event = { to: 'C1' } as never;
    expect(await runner.runMessageSending(event, slack)).toBeUndefined();
    expect(handler).not.toHaveBeenCalled();
    expect(log.at(-1)).toContain('[hooks] message_sending was not run');
  });

  it('keeps live objects in metadata to the legacy handlers', async () => {
    const { kernel, runner, on } = lab();
    const seen: unknown[] = [];
    on('message_sending', ({ metadata }) => void seen.push(metadata));
    const metadata = { at: new Date(0), threadId: 't' };
    await runner.runMessageSending({ ...sending, metadata }, slack);
    expect(seen[0]).toBe(metadata);
    expect(kernel.stats().dispatches).toBe(1);
  });
});

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
