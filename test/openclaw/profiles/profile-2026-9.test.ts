import { describe, expect, it } from 'vitest';
import {
  createLegacyHookRunner,
  loadLegacyPlugin,
  loadLegacyPluginFrom,
  registerLegacyHook,
} from '../../../src/openclaw/index.js';
import { createTestKernel, type TestKernel } from '../../../src/testing/index.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const profile = '2026.9';
const call = { toolName: 'exec', params: { path: 'a', mode: 'r' } };

/** A kernel with handlers of `before_tool_call`, each of a plugin of its own. */
function withHandlers(...handlers: readonly ((event: typeof call) => unknown)[]): TestKernel {
  const test = createTestKernel();
  for (const [at, handler] of handlers.entries())
    registerLegacyHook(
      test.kernel,
      { pluginId: `p${at}`, hookName: 'before_tool_call', handler: handler as never },
      { profile, clock: test.clock },
    );
  return test;
}

describe('profile 2026.9 (event-pipeline §17.28)', () => {
  it('a handler of before_tool_call that throws refuses the call', async () => {
    const { kernel } = withHandlers(() => {
      throw new Error('no');
    });
    const outcome = await kernel.dispatch('agent.tool.calling', call);
    expect(outcome.status).toBe('failed');
  });

  it.each([[true], ['no'], [7], [['block']], [() => ({ block: true })]])(
    'a handler of before_tool_call that answers %s, which is no object, refuses nothing, and is named (§17.28)',
    async (answer) => {
      const { kernel } = withHandlers(
        () => answer,
        () => ({ params: { path: 'b' } }),
      );
      const outcome = await kernel.dispatch('agent.tool.calling', call);
      expect(outcome).toMatchObject({ status: 'passed', payload: { params: { path: 'b' } } });
      expect(outcome.failures).toMatchObject([{ extensionId: 'p0', contributionId: '0000.0' }]);
    },
  );

  it('the same handler in profile 2026.3 lets it pass', async () => {
    const { kernel } = createTestKernel();
    const handler = () => {
      throw new Error('no');
    };
    registerLegacyHook(kernel, { pluginId: 'p', hookName: 'before_tool_call', handler });
    expect((await kernel.dispatch('agent.tool.calling', call)).status).toBe('passed');
  });

  it('a handler of before_tool_call that hangs refuses the call after 15 seconds', async () => {
    const { kernel, clock } = withHandlers(() => new Promise(() => undefined));
    const running = kernel.dispatch('agent.tool.calling', call);
    await clock.advance(15_000);
    expect((await running).status).toBe('failed');
  });

  it('each handler has a copy of the event, and what it writes there is nobody’s', async () => {
    const seen: unknown[] = [];
    const { kernel } = withHandlers(
      (event) => {
        event.params.path = 'written';
      },
      (event) => void seen.push(event.params.path),
    );
    const outcome = await kernel.dispatch('agent.tool.calling', call);
    expect(seen).toEqual(['a']);
    expect(outcome.payload.params).toEqual(call.params);
  });

  it('an event that cannot be copied, or shares memory, refuses the call', async () => {
    for (const odd of [() => 0, new SharedArrayBuffer(1)]) {
      const { kernel } = withHandlers(() => undefined);
      const runner = createLegacyHookRunner(kernel, { profile });
      const event = { toolName: 'exec', params: { odd } };
      await expect(runner.runBeforeToolCall(event, { toolName: 'exec' })).rejects.toThrow(
        'before_tool_call mutable input isolation failed',
      );
    }
  });

  it('the last params win whole, over the emitted ones', async () => {
    const { kernel } = withHandlers(
      () => ({ params: { path: 'b', mode: 'w' } }),
      () => ({ params: { path: 'c' } }),
    );
    const outcome = await kernel.dispatch('agent.tool.calling', call);
    expect(outcome.payload.params).toEqual({ path: 'c', mode: 'r' });
  });

  it('the first approval is asked for, with the params as they were then', async () => {
    const { kernel } = withHandlers(
      () => ({ params: { path: 'b' }, requireApproval: { title: 'first' } }),
      () => ({ params: { path: 'c' }, requireApproval: { title: 'second' } }),
    );
    const outcome = await kernel.dispatch('agent.tool.calling', call);
    expect(outcome.payload.params.path).toBe('b');
    expect(outcome.status === 'cancelled' && outcome.cancel.question?.title).toBe('first');
  });

  it('the first system prompt wins, and hookInvocation ends with the handler', async () => {
    const { kernel } = createTestKernel();
    let invocation: { assertActive(): void } | undefined;
    for (const systemPrompt of ['first', 'second'])
      registerLegacyHook(
        kernel,
        {
          pluginId: systemPrompt,
          hookName: 'before_prompt_build',
          handler: (_, ctx) => {
            ({ hookInvocation: invocation } = ctx as { hookInvocation?: typeof invocation });
            invocation?.assertActive();
            return { systemPrompt, appendContext: systemPrompt };
          },
        },
        { profile, trusted: true },
      );
    const outcome = await kernel.dispatch('agent.prompt.building', {
      ...{ prompt: 'p', messages: [], guidance: [], additions: [] },
    });
    expect(outcome.payload.systemPrompt).toBe('first');
    expect(outcome.payload.additions).toEqual([
      { text: 'first', position: 'after' },
      { text: 'second', position: 'after' },
    ]);
    expect(() => invocation?.assertActive()).toThrow('does not count any more');
  });
});

describe('the hooks that profile 2026.9 added (event-pipeline §17.30)', () => {
  const message = { channel: 'c', content: 'hi', from: 'u', attachments: [], metadata: {} };

  it('before_dispatch ends a message in place of an agent, with a reply', async () => {
    const { kernel } = createTestKernel();
    const calls: string[] = [];
    for (const [pluginId, handled] of [
      ['a', false],
      ['b', true],
      ['c', true],
    ] as const)
      registerLegacyHook(
        kernel,
        {
          pluginId,
          hookName: 'before_dispatch',
          handler: (event) => {
            calls.push(`${pluginId} ${event.content}`);
            return { handled, text: `by ${pluginId}` };
          },
        },
        { profile },
      );
    const outcome = await kernel.dispatch('routing.resolving', { message, agents: ['main'] });
    expect(outcome.status === 'cancelled' && outcome.cancel).toMatchObject({
      code: 'handled',
      reply: 'by b',
    });
    expect(calls).toEqual(['a hi', 'b hi']);
  });

  it('a hook of the moment of another one hears a host, and no legacy runner, which has no method for it', async () => {
    const { kernel } = createTestKernel();
    let calls = 0;
    registerLegacyHook(
      kernel,
      {
        pluginId: 'a',
        hookName: 'agent_turn_prepare',
        handler: () => {
          calls++;
          return { prependContext: 'note' };
        },
      },
      { profile },
    );
    const runner = createLegacyHookRunner(kernel, { profile });
    const event = { prompt: 'p', messages: [] };
    await runner.runBeforePromptBuild(event, {});
    expect([calls, runner.hasHooks('agent_turn_prepare')]).toEqual([0, false]);
    expect(runner).not.toHaveProperty('runAgentTurnPrepare');
    const outcome = await kernel.dispatch('agent.prompt.building', {
      ...{ ...event, guidance: [], additions: [] },
    });
    expect(outcome.payload.additions).toEqual([{ text: 'note', position: 'before' }]);
    expect(calls).toBe(1);
  });
});

describe('reply_payload_sending (event-pipeline §17.30)', () => {
  const reply = { to: 'u', content: 'one', attachments: [], metadata: {}, streaming: false };

  /** The outcome of a reply that handlers see one after the other, each by a plugin of its own. */
  function send(...handlers: readonly ((event: { payload: { text?: string } }) => object)[]) {
    const { kernel } = createTestKernel();
    for (const [at, handler] of handlers.entries())
      registerLegacyHook(
        kernel,
        { pluginId: `p${at}`, hookName: 'reply_payload_sending', handler },
        { profile },
      );
    const more = { explicit: false, accounts: [] };
    return kernel.dispatch('egress.preparing', { ...reply, ...more, kind: 'reply' });
  }

  it('each handler sees the text that the one before it left, in a copy of its own', async () => {
    const seen: unknown[] = [];
    const see = (payload: { text?: string }, text?: string) => {
      seen.push(payload.text);
      payload.text = 'written in place';
      return { payload: { text } };
    };
    const { payload } = await send(
      (event) => see(event.payload, 'two'),
      (event) => see(event.payload),
      (event) => see(event.payload, 'three'),
    );
    expect([seen, payload.content]).toEqual([['one', 'two', 'two'], 'three']);
  });

  it('a cancel ends it, with the last reason that a handler gave', async () => {
    const outcome = await send(
      () => ({ reason: 'not today' }),
      () => ({ cancel: true }),
      () => ({ reason: 'too late' }),
    );
    expect(outcome.status === 'cancelled' && outcome.cancel.text).toBe('not today');
  });
});

describe('a plugin of profile 2026.9', () => {
  it('event-pipeline §17.27: has the profile that its package was built for', async () => {
    const { kernel } = createTestKernel();
    await using folder = await temporaryFolder({
      'openclaw.plugin.json': '{ "id": "later", "configSchema": {} }',
      'package.json':
        '{ "type": "module", "openclaw": { "extensions": ["./index.js"], "build": { "openclawVersion": "2026.9.5" } } }',
      'index.js':
        "export default (api) => { api.on('before_dispatch', () => undefined); api.logger.info(api.runtime.version); };",
    });
    await using plugin = await loadLegacyPluginFrom(folder.path, { kernel });
    expect([plugin.profile, plugin.hooks.map(({ hookName }) => hookName)]).toEqual([
      '2026.9',
      ['before_dispatch'],
    ]);
    await using earlier = await loadLegacyPluginFrom(folder.path, { kernel, profile: '2026.3' });
    expect(earlier.hooks).toEqual([]);
  });

  it('event-pipeline §17.29: is told which hooks and options are not here, and the operator’s budget beats its own', async () => {
    const { kernel, clock } = createTestKernel();
    const never = () => new Promise(() => undefined);
    await using plugin = loadLegacyPlugin(
      (api: { on: (name: string, handler: () => unknown, options?: object) => void }) => {
        api.on('before_tool_call', never, { timeoutMs: 60_000, matcher: ['exec'] });
        api.on('before_agent_run', never);
        api.on('before_prompt_build', never, { requiresToolAuthority: true });
        api.on('llm_output', never);
      },
      {
        ...{ kernel, clock, profile, pluginId: 'p' },
        hooks: { timeouts: { before_tool_call: 10 }, allowConversationAccess: false },
      },
    );
    expect(plugin.diagnostics.map(({ message }) => message)).toEqual([
      'hook "before_agent_run" is ignored: hooks.allowConversationAccess is false',
      'hook "before_prompt_build" is ignored: hooks.allowConversationAccess is false',
      'hook "llm_output" is ignored: hooks.allowConversationAccess is false',
    ]);
    const running = kernel.dispatch('agent.tool.calling', call);
    await clock.advance(10);
    expect((await running).status).toBe('failed');
    const other = await kernel.dispatch('agent.tool.calling', { ...call, toolName: 'read' });
    expect(other.status).toBe('passed');
  });

  it('event-pipeline §17.30: is warned of a hook without a moment', async () => {
    const { kernel } = createTestKernel();
    await using plugin = loadLegacyPlugin(
      (api: { on: (name: string, handler: () => unknown) => void }) => {
        api.on('before_install', () => ({ block: true }));
      },
      { kernel, profile, pluginId: 'p' },
    );
    expect(plugin.diagnostics[0]?.message).toContain('hook "before_install" has no moment here');
  });
});
