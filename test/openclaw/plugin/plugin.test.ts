import { describe, expect, it, vi } from 'vitest';
import {
  createLegacyHookRunner,
  type LegacyManifest,
  type LegacyPluginOptions,
  loadLegacyPlugin,
} from '../../../src/openclaw/index.js';
import { unsupportedMembers } from '../../../src/openclaw/plugin/api/unsupported.js';
import { collectingLogger, createTestKernel, samplePayload } from '../../../src/testing/index.js';

/** The api as the plugins of these tests use it. */
interface Api {
  readonly [field: string]: unknown;
  readonly logger: Record<'debug' | 'info' | 'warn' | 'error', (message: unknown) => void>;
  readonly runtime: Record<string, never> & {
    readonly events: { onAgentEvent(listener: (event: object) => void): () => void };
  };
  on(
    hook: string,
    handler: (event: never) => unknown,
    options?: { priority?: number; matcher?: unknown },
  ): void;
  registerHook(events: string | string[], handler: unknown, options?: object): void;
  registerService(service: object): void;
  registerCommand(command: object): void;
  registerChannel(channel: object): void;
  registerProvider(provider: object): void;
  registerTool(tool: object): void;
  resolvePath(path: string): string;
}

const manifest: LegacyManifest = {
  id: 'acme',
  configSchema: {
    type: 'object',
    additionalProperties: false,
    required: ['url'],
    properties: { url: { type: 'string' }, retries: { $ref: '#/definitions/count' } },
    definitions: { count: { type: 'integer', minimum: 0 } },
  },
};

function load(register: (api: Api) => unknown, options: Partial<LegacyPluginOptions> = {}) {
  const { kernel } = createTestKernel();
  const logger = collectingLogger();
  const plugin = loadLegacyPlugin(register, { kernel, logger, pluginId: 'acme', ...options });
  return { plugin, kernel, logger, runner: createLegacyHookRunner(kernel) };
}

/** What a register function is called with. */
function apiOf(options: Partial<LegacyPluginOptions> = {}): Api {
  let given: Api | undefined;
  load((api) => void (given = api), options);
  if (given === undefined) throw new Error('it was not called');
  return given;
}

const sending = { to: 'C1', content: 'hi' };
const slack = { channelId: 'slack' };

describe('the module of a legacy plugin', () => {
  const register = vi.fn();

  it.each<[string, unknown]>([
    ['a function', register],
    ['a default export that is a function', { default: register }],
    ['an object with register', { register }],
    ['an object with activate', { activate: register }],
    ['a default export that is an object', { default: { register }, register: 'no' }],
    ['what CommonJS compiles to', { default: { __esModule: true, default: { register } } }],
  ])('may be %s', (_, module) => {
    register.mockClear();
    const { kernel } = createTestKernel();
    expect(loadLegacyPlugin(module, { kernel, pluginId: 'acme' }).status).toBe('loaded');
    expect(register).toHaveBeenCalledTimes(1);
  });

  it('is told of where reading it throws', () => {
    const module = {
      get register() {
        throw new Error('too early');
      },
    };
    const { plugin } = load(module as never);
    expect(plugin.error).toMatchObject({
      code: 'no-plugin',
      message: expect.stringContaining('reading it threw: too early'),
    });
  });

  it('has its register called on it, before its activate', () => {
    const seen: unknown[] = [];
    const module = {
      name: 'Acme',
      register(this: unknown) {
        seen.push(this);
      },
      activate: () => seen.push('activate'),
    };
    const { kernel } = createTestKernel();
    expect(loadLegacyPlugin(module, { kernel, pluginId: 'acme' }).name).toBe('Acme');
    expect(seen).toEqual([module]);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'plugin'],
    ['an object without a function', { default: { register: 1 } }],
    ['a default export of nothing', { default: null, register }],
  ])('that is %s is no plugin', (_, module) => {
    const { kernel } = createTestKernel();
    const plugin = loadLegacyPlugin(module, { kernel, pluginId: 'acme' });
    expect(plugin).toMatchObject({ status: 'error', error: { code: 'no-plugin' } });
  });

  it('must have the id that it is loaded under, and names it where nobody else does', () => {
    const { kernel } = createTestKernel();
    const module = { id: 'other', register };
    const wrong = loadLegacyPlugin(module, { kernel, pluginId: 'acme' });
    expect(wrong.error).toMatchObject({
      code: 'plugin-id-mismatch',
      details: { exported: 'other' },
    });
    expect(loadLegacyPlugin(module, { kernel, manifest }).error?.code).toBe('plugin-id-mismatch');
    expect(loadLegacyPlugin(module, { kernel })).toMatchObject({
      pluginId: 'other',
      status: 'loaded',
    });
    expect(() => loadLegacyPlugin(register, { kernel })).toThrow(
      expect.objectContaining({ code: 'bad-option' }),
    );
  });

  it('is run as profile 2026.3 alone', () => {
    const { kernel } = createTestKernel();
    const newer = { kernel, pluginId: 'acme', profile: '2026.4' as '2026.3' };
    expect(() => loadLegacyPlugin(register, newer)).toThrow(
      expect.objectContaining({ code: 'bad-option' }),
    );
  });
});

describe('the configuration of a legacy plugin', () => {
  it('is judged by the JSON Schema of its manifest, before its register function is called', () => {
    const register = vi.fn();
    for (const pluginConfig of [
      {},
      { url: 1 },
      { url: 'a', retries: -1 },
      { url: 'a', ulr: 'b' },
    ]) {
      const { plugin } = load(register, { manifest, pluginConfig });
      expect(plugin.error?.code).toBe('bad-config');
    }
    expect(register).not.toHaveBeenCalled();
    const { plugin } = load(register, { manifest, pluginConfig: { url: 'a', ulr: 'b' } });
    expect(plugin.error?.message).toBe('acme: config.ulr: is no setting; did you mean "url"?');
    expect(load(register, { manifest, pluginConfig: { url: 'a', retries: 2 } }).plugin.error).toBe(
      undefined,
    );
  });

  it('is that of its entry in the OpenClaw configuration, where it is not given', () => {
    const config = { plugins: { entries: { acme: { enabled: true, config: { url: 'entry' } } } } };
    expect(apiOf({ manifest, config })['pluginConfig']).toEqual({ url: 'entry' });
    expect(apiOf({ manifest, config, pluginConfig: { url: 'given' } })['pluginConfig']).toEqual({
      url: 'given',
    });
    expect(apiOf()['pluginConfig']).toBe(undefined);
  });

  it('may hold nothing that can be read: the plugin has none then', () => {
    for (const config of [
      { plugins: 1 },
      { plugins: { entries: [] } },
      { plugins: { entries: { acme: 7 } } },
    ])
      expect(apiOf({ config })['pluginConfig']).toBe(undefined);
  });
});

describe('the api', () => {
  it('says who the plugin is, with its manifest and its configuration', () => {
    const config = { agents: { list: [] } };
    const api = apiOf({
      manifest: { ...manifest, name: 'Acme', version: '1.0', description: 'Does.' },
      config,
      pluginConfig: { url: 'a' },
      source: '/srv/acme/index.js',
    });
    expect(api).toMatchObject({
      id: 'acme',
      name: 'Acme',
      version: '1.0',
      description: 'Does.',
      source: '/srv/acme/index.js',
    });
    expect(api['config']).toBe(config);
    expect(api['anythingElse']).toBe(undefined);
  });

  it('logs under the plugin’s name, whatever it is given', () => {
    const { logger } = load(({ logger: log }) => {
      log.info('up');
      log.warn(new Error('odd'));
    });
    expect(logger.entries).toMatchObject([
      { level: 'info', message: 'acme: up', fields: { extensionId: 'acme' } },
      { level: 'warn', message: 'acme: odd' },
    ]);
  });

  it('resolves paths as people write them', () => {
    const { resolvePath } = apiOf();
    expect(resolvePath('~/a')).toMatch(/^(?!~).*[/\\]a$/);
    expect(resolvePath(' /a/../b ')).toBe('/b');
    expect(resolvePath('')).toBe('');
  });

  it('takes a registration at any time, until the plugin is disposed', async () => {
    let late: Api['on'] | undefined;
    const { plugin, runner } = load(({ on }) => void (late = on));
    late?.('message_sending', () => ({ content: 'late' }));
    expect(await runner.runMessageSending({ ...sending }, slack)).toEqual({ content: 'late' });
    await plugin.dispose();
    expect(await runner.runMessageSending({ ...sending }, slack)).toBe(undefined);
    expect(() => late?.('message_sending', () => undefined)).toThrow(
      expect.objectContaining({ code: 'scope-disposed' }),
    );
    expect(runner.hasHooks('message_sending')).toBe(false);
  });
});

describe('api.on', () => {
  it('calls a tool hook with a matcher for the tools that it names, whatever their case (judgement §4.31)', async () => {
    const { runner } = load(({ on }) => {
      on('before_tool_call', () => ({ block: true }), { matcher: ['exec', ' Read '] });
    });
    const isBlocked = async (toolName: string): Promise<unknown> =>
      (await runner.runBeforeToolCall({ toolName, params: {} }, { toolName }))?.block;
    expect(await isBlocked('exec')).toBe(true);
    expect(await isBlocked('Exec')).toBe(true);
    expect(await isBlocked('read')).toBe(true);
    expect(await isBlocked('write')).toBeUndefined();
  });

  it.each([
    ['an empty list', []],
    ['a text', 'exec'],
    ['an empty name', ['exec', ' ']],
    ['a wildcard', ['*']],
  ])('refuses a matcher that is %s, and registers nothing (judgement §4.31)', (_, matcher) => {
    const { plugin, logger } = load(({ on }) => {
      on('after_tool_call', () => undefined, { matcher });
      on('message_sent', () => undefined, { matcher }); // no tool hook: it is not read
    });
    expect(plugin.hooks.map(({ hookName }) => hookName)).toEqual(['message_sent']);
    expect(logger.entries.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  it('registers on the canonical stages, by priority and then in order', async () => {
    const { plugin, runner } = load(({ on }) => {
      on('message_sending', () => ({ content: 'first' }));
      on('message_sending', () => ({ content: 'second' }));
      on('message_sending', () => ({ content: 'early' }), { priority: 1 });
    });
    expect(await runner.runMessageSending({ ...sending }, slack)).toEqual({ content: 'second' });
    expect(plugin.hooks).toHaveLength(3);
    expect(plugin.hooks[2]).toEqual({
      hookName: 'message_sending',
      priority: 1,
      parts: [
        { family: 'egress.preparing', class: 'mutator' },
        { family: 'egress.preparing', class: 'veto' },
      ],
    });
  });

  it('ignores a name that there is not, and says so', () => {
    const { plugin, logger } = load(({ on }) => {
      on('mesage_sending', () => undefined);
      on('inbound_claim', () => undefined);
    });
    expect(plugin).toMatchObject({ status: 'loaded', hooks: [] });
    expect(plugin.diagnostics.map(({ level }) => level)).toEqual(['warn', 'warn']);
    expect(logger.messages('warn')[0]).toMatch(
      /no hook "mesage_sending" .* did it mean "message_sending"\?$/,
    );
  });

  it('tells of a hook that the kernel refuses, and goes on', () => {
    const { plugin } = load(({ on }) => {
      on('message_sent', () => undefined, { priority: Number.NaN });
      on('message_sent', () => undefined);
    });
    expect(plugin.hooks).toHaveLength(1);
    expect(plugin.diagnostics).toMatchObject([
      { level: 'error', message: expect.stringContaining('hook "message_sent"') },
    ]);
  });

  const answer = { prependContext: 'Mind this.', modelOverride: 'm-2' };
  const prompting = ({ on }: Api): void => {
    on('before_prompt_build', () => answer);
    on('before_agent_start', async () => answer);
  };
  const prompt = { prompt: 'hi', messages: [] };

  it.each([
    ['hooks of the options', { hooks: { allowPromptInjection: false } }],
    [
      'the entry of the configuration',
      { config: { plugins: { entries: { acme: { hooks: { allowPromptInjection: false } } } } } },
    ],
  ])('keeps the prompt from a plugin where %s say so', async (_, options) => {
    const { plugin, runner } = load(prompting, options);
    expect(plugin.hooks.map(({ hookName }) => hookName)).toEqual(['before_agent_start']);
    expect(plugin.diagnostics).toHaveLength(2);
    expect(await runner.runBeforePromptBuild(prompt, {})).toBe(undefined);
    expect(await runner.runBeforeAgentStart(prompt, {})).toEqual({ modelOverride: 'm-2' });
  });

  it('lets a plugin write to the prompt where nothing is said', async () => {
    const { runner } = load(prompting);
    expect(await runner.runBeforePromptBuild(prompt, {})).toEqual(
      expect.objectContaining({ prependContext: 'Mind this.' }),
    );
  });

  it('lets only a trusted plugin replace the system prompt', async () => {
    const replacing = ({ on }: Api): void =>
      on('before_prompt_build', () => ({ systemPrompt: 'Obey.' }));
    const trusted = load(replacing, { trusted: true });
    expect(await trusted.runner.runBeforePromptBuild(prompt, {})).toMatchObject({
      systemPrompt: 'Obey.',
    });
    const untrusted = load(replacing);
    expect(await untrusted.runner.runBeforePromptBuild(prompt, {})).not.toMatchObject({
      systemPrompt: 'Obey.',
    });
  });
});

describe('api.registerHook', () => {
  const on = { config: { hooks: { internal: { enabled: true } } } };

  it('attaches a named handler where the configuration switches internal hooks on', async () => {
    const handler = vi.fn();
    const register = (api: Api): void =>
      api.registerHook(['command', ' '], handler, { name: 'audit', description: 'Writes.' });
    const { plugin, kernel } = load(register, on);
    expect(plugin.internalHooks).toEqual([
      { name: 'audit', description: 'Writes.', events: ['command'], attached: true },
    ]);
    const call = { name: 'new', args: [], source: 'chat' as const };
    await kernel.dispatch('command.received', call);
    expect(handler).toHaveBeenCalledTimes(1);
    await plugin.dispose();
    await kernel.dispatch('command.received', call);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it.each<[string, Partial<LegacyPluginOptions>, object]>([
    ['internal hooks are off', {}, { name: 'audit' }],
    ['the plugin says register: false', on, { name: 'audit', register: false }],
  ])('only lists it where %s', async (_, options, hook) => {
    const handler = vi.fn();
    const { plugin, kernel } = load((api) => api.registerHook('command', handler, hook), options);
    expect(plugin.internalHooks).toMatchObject([{ name: 'audit', attached: false }]);
    await kernel.dispatch('command.received', { name: 'new', args: [], source: 'chat' });
    expect(handler).not.toHaveBeenCalled();
  });

  it('takes the name of a hook entry, and nothing that has no name', () => {
    const { plugin } = load((api) => {
      api.registerHook('command', vi.fn(), { entry: { hook: { name: 'by-entry' } } });
      api.registerHook('command', vi.fn());
    }, on);
    expect(plugin.internalHooks.map(({ name }) => name)).toEqual(['by-entry']);
    expect(plugin.diagnostics).toMatchObject([{ level: 'warn' }]);
  });
});

describe('what a legacy plugin registers wrongly', () => {
  const handler = () => ({ text: 'ok' });
  const fine = { name: 'fine', description: 'Is fine.', handler };

  it.each<[string, (api: Api) => void]>([
    ['a command without a name', (api) => api.registerCommand({ ...fine, name: ' ' })],
    ['a command whose name is no name', (api) => api.registerCommand({ ...fine, name: '9a' })],
    [
      'a command with the name of a built-in one',
      (api) => api.registerCommand({ ...fine, name: 'Stop' }),
    ],
    ['a command without a description', (api) => api.registerCommand({ ...fine, description: '' })],
    ['a command without a handler', (api) => api.registerCommand({ ...fine, handler: 1 })],
    ['a service without an id', (api) => api.registerService({ id: '', start: handler })],
    ['a service that cannot start', (api) => api.registerService({ id: 'a' })],
    ['a channel without an id', (api) => api.registerChannel({ plugin: { outbound: {} } })],
    ['a channel that cannot send', (api) => api.registerChannel({ id: 'a', outbound: {} })],
    ['a hook without a handler', (api) => api.on('message_sent', undefined as never)],
    [
      'an internal hook without a handler',
      (api) => api.registerHook('message:sent', undefined, { name: 'a' }),
    ],
  ])('%s is left out, and told of', (_, register) => {
    const { plugin } = load((api) => {
      register(api);
      api.registerCommand(fine);
    });
    const { services, commands, channels, hooks, internalHooks } = plugin;
    expect([services, commands.length, channels]).toEqual([[], 1, []]);
    expect([hooks, internalHooks]).toEqual([[], []]);
    expect(plugin.status).toBe('loaded');
    expect(plugin.diagnostics).toHaveLength(1);
    expect(plugin.diagnostics[0]?.message).not.toContain('SluiceError');
  });

  it('twice, is taken once', () => {
    const channel = { id: 'a', outbound: { sendText: handler } };
    const { plugin } = load((api) => {
      api.registerCommand(fine);
      api.registerCommand({ ...fine, name: 'FINE' });
      api.registerChannel(channel);
      api.registerChannel({ plugin: channel });
    });
    expect([plugin.commands.length, plugin.channels.length]).toEqual([1, 1]);
    expect(plugin.diagnostics).toHaveLength(2);
  });
});

describe('a register function', () => {
  it('that throws leaves what it had registered before, as in OpenClaw', async () => {
    const { plugin, runner, logger } = load(({ on }) => {
      on('message_sending', () => ({ cancel: true }));
      throw new Error('no key');
    });
    expect(plugin).toMatchObject({ status: 'error', error: { code: 'plugin-failed' } });
    expect(plugin.error?.message).toBe('acme: its register function threw: no key');
    expect(logger.entries.filter(({ level }) => level === 'error')).toMatchObject([
      { message: 'acme: it is not set up (plugin-failed)', fields: { error: plugin.error } },
    ]);
    expect(await runner.runMessageSending({ ...sending }, slack)).toEqual({ cancel: true });
    await plugin.dispose();
    expect(await runner.runMessageSending({ ...sending }, slack)).toBe(undefined);
  });

  it('that is async is not waited for, and a warning says so', async () => {
    const { plugin, runner } = load(async ({ on }) => {
      on('message_sending', () => ({ content: 'sync part' }));
      await Promise.resolve();
      throw new Error('too late');
    });
    expect(plugin.status).toBe('loaded');
    expect(plugin.diagnostics).toMatchObject([{ level: 'warn' }]);
    expect(await runner.runMessageSending({ ...sending }, slack)).toEqual({ content: 'sync part' });
    expect(plugin.diagnostics[1]).toEqual({
      level: 'error',
      message: 'its register function was rejected: too late',
    });
  });
});

describe('what has no place here', () => {
  const members = Object.keys(unsupportedMembers).filter((name) => name.startsWith('api.'));

  /** Takes `api.runtime.tts` by its path, and calls it, or a member of it where it is a part. */
  function call(api: Api, member: string): unknown {
    let at: unknown = { api };
    for (const name of member.split('.')) at = (at as Record<string, unknown>)[name];
    if (/runtime\.(?!events)|^api\.(session|agent|runContext|lifecycle)$/.test(member))
      at = (at as Record<string, unknown>)['anyMethod'];
    return (at as () => unknown)();
  }

  it.each(members)('%s is present and refuses, naming itself and what to use instead', (member) => {
    const { plugin } = load((api) => call(api, member), {
      ...{ unsupported: 'refuse', profile: '2026.9' },
    });
    expect(plugin.error?.code).toBe('plugin-unsupported');
    expect(plugin.error?.message).toContain(`${member}`);
    expect(plugin.error?.hint).toBe((unsupportedMembers as Record<string, string>)[member]);
    expect(plugin.unsupported).toHaveLength(1);
  });

  it('is every key that the runtime has in OpenClaw, and none of them is missing', () => {
    const { runtime } = apiOf();
    expect(Object.keys(runtime).sort()).toEqual(
      [
        ['channel', 'config', 'events', 'logging', 'media', 'modelAuth', 'state', 'stt'],
        ['subagent', 'system', 'tools', 'tts', 'version'],
      ].flat(),
    );
  });

  it('may be handed about, and asked for by a plugin that can do without', () => {
    const { plugin } = load(
      (api) => {
        const { runtime } = api;
        void String(typeof runtime['tts']);
        try {
          api.registerProvider({ id: 'hammer' });
        } catch {
          api.on('message_sent', () => undefined);
        }
      },
      { unsupported: 'refuse' },
    );
    expect(plugin.status).toBe('loaded');
    expect(plugin.hooks).toHaveLength(1);
    expect(plugin.unsupported.map(({ method }) => method)).toEqual(['api.registerProvider']);
  });

  it('does not end a plugin that reads what a skipped call gave', () => {
    const { plugin } = load((api) => {
      const settings = (
        api.runtime['config'] as unknown as { load(): Record<string, never[]> }
      ).load();
      for (const entry of settings['entries'] ?? []) api.registerTool(entry);
      api.logger.info(`${settings['name']} ${JSON.stringify(settings)}`);
      api.on('message_sent', () => undefined);
    });
    expect(plugin).toMatchObject({ status: 'loaded', hooks: [{ hookName: 'message_sent' }] });
    expect(plugin.unsupported.map(({ method }) => method)).toEqual(['api.runtime.config.load']);
  });

  it('are the skills that a manifest names, if nobody knows its folder', () => {
    const register = () => undefined;
    const { plugin } = load(register, {
      manifest: { id: 'acme', configSchema: {}, skills: ['./a'] },
    });
    expect(plugin.unsupported).toMatchObject([{ method: 'openclaw.plugin.json: skills' }]);
    expect(plugin.status).toBe('loaded');
    const none = load(register, { manifest: { id: 'acme', configSchema: {}, skills: [] } });
    expect(none.plugin.unsupported).toEqual([]);
  });

  it('may be awaited without being called', async () => {
    const { runtime } = apiOf();
    expect(typeof (await runtime['tts'])).toBe('function');
  });

  it('is written down and passed over with unsupported: skip', () => {
    const { plugin, logger } = load(
      (api) => {
        api.registerProvider({ id: 'hammer' });
        api.registerProvider({ id: 'saw' });
        call(api, 'api.runtime.media');
        api.on('message_sent', () => undefined);
      },
      { unsupported: 'skip' },
    );
    expect(plugin.status).toBe('loaded');
    expect(plugin.hooks).toHaveLength(1);
    expect(plugin.unsupported.map(({ method }) => method)).toEqual([
      'api.registerProvider',
      'api.runtime.media.anyMethod',
    ]);
    expect(logger.messages('warn')).toHaveLength(2);
  });

  it('are providers and context engines: a plugin that has nothing else is loaded', () => {
    const { plugin } = load((api) => {
      for (const name of ['registerProvider', 'registerContextEngine'] as const)
        (api as unknown as Record<typeof name, (...args: unknown[]) => void>)[name]({ id: 'own' });
    });
    expect(plugin).toMatchObject({ status: 'loaded' });
    expect(plugin.unsupported).toMatchObject([
      { method: 'api.registerProvider', instead: expect.stringContaining('AgentProvider') },
      {
        method: 'api.registerContextEngine',
        instead: expect.stringContaining('before_prompt_build'),
      },
    ]);
  });

  it('is not the intake of a channel (event-pipeline §17.19)', () => {
    const channel = {
      id: 'a',
      outbound: { sendText: vi.fn() },
      gateway: { startAccount: vi.fn() },
    };
    const { plugin } = load((api) => api.registerChannel(channel));
    expect(plugin).toMatchObject({ status: 'loaded', channels: [{ id: 'a' }] });
    expect(plugin.channels[0]?.gateway?.startAccount).toBeTypeOf('function');
    expect(plugin.unsupported).toEqual([]);
  });
});

describe('api.runtime.events.onAgentEvent', () => {
  it('listens until its function is called; without listeners nothing is on the kernel', async () => {
    const seen: unknown[] = [];
    const stops: (() => void)[] = [];
    const { plugin, kernel } = load(({ runtime }) => {
      stops.push(runtime.events.onAgentEvent((event) => seen.push(event)));
    });
    const dispatch = () => kernel.dispatch('agent.starting', samplePayload('agent.starting'));
    await dispatch();
    expect(seen).toMatchObject([{ stream: 'lifecycle', data: { phase: 'start' } }]);
    stops.forEach((stop) => void stop());
    await dispatch();
    expect(seen).toHaveLength(1);
    expect(kernel.stages().flatMap(({ handlers }) => handlers)).toEqual([]);
    expect((await plugin.dispose()).failures).toEqual([]);
  });
});
