import { describe, expect, it } from 'vitest';
import type { LegacyPluginOptions, LegacyToolTurn } from '../../../src/openclaw/index.js';
import { loadLegacyPlugin } from '../../../src/openclaw/index.js';
import { collectingLogger, createTestKernel, scriptedAgent } from '../../../src/testing/index.js';
import { type HostLab, hostLab } from '../../support/host-lab.js';

type Register = (api: {
  readonly runtime: Record<string, Record<string, (...args: unknown[]) => unknown>>;
  registerTool(tool: unknown, options?: object): void;
  on(hook: string, handler: (event: Record<string, unknown>) => unknown): void;
}) => void;

const parameters = { type: 'object', properties: { text: { type: 'string' } } };

/** A tool as OpenClaw's plugins write them. */
function shout(given: object = {}): object {
  return {
    name: 'shout',
    label: 'Shout',
    description: 'Says it louder.',
    parameters,
    execute: async (_id: string, { text }: { text: string }) => ({
      content: [{ type: 'text', text: text.toUpperCase() }],
      details: { text },
    }),
    ...given,
  };
}

/** A host whose agent calls a tool by each name, and what its plugin has logged. */
async function labOf(
  register: Register,
  options: Partial<LegacyPluginOptions> = {},
  names: readonly string[] = ['shout'],
) {
  const logger = collectingLogger();
  const steps = [...names.map((tool) => ({ tool, args: { text: 'hi' } })), 'Done.'];
  const agent = scriptedAgent([steps]);
  const lab = await hostLab({
    agents: [{ id: 'main', provider: agent }],
    loadPlugins: (kernel) => [
      loadLegacyPlugin(register, { kernel, logger, pluginId: 'acme', ...options }),
    ],
  });
  const offered = () => agent.requests.at(-1)?.tools?.map(({ name }) => name) ?? [];
  return { lab, logger, offered };
}

function texts(lab: HostLab): unknown[] {
  return lab.of('agent.tool.called').map(({ event }) => Object(event.payload.result).content?.[0]);
}

/** The names that an agent is offered of an optional and of a plain tool. */
async function offeredBy(options: Partial<LegacyPluginOptions>): Promise<readonly string[]> {
  const { lab, offered } = await labOf((api) => {
    api.registerTool(shout(), { optional: true });
    api.registerTool(shout({ name: 'whisper' }));
  }, options);
  await using _lab = lab;
  await lab.say('go');
  return offered();
}

describe('api.registerTool (event pipeline §17.25)', () => {
  it('gives agents a tool, which its own hooks see by its plain name', async () => {
    const seen: unknown[] = [];
    const { lab } = await labOf((api) => {
      api.registerTool(shout());
      api.on('before_tool_call', ({ toolName }) => ({ params: { text: `${String(toolName)}!` } }));
      api.on('after_tool_call', ({ toolName, result }) => void seen.push({ toolName, result }));
    });
    await using _lab = lab;
    await lab.say('go');
    const content = [{ type: 'text', text: 'SHOUT!' }];
    expect(texts(lab)).toEqual(content);
    expect(seen).toMatchObject([
      { toolName: 'shout', result: { content, details: { text: 'shout!' } } },
    ]);
  });

  it('calls a factory for each turn, with the turn; it may give one tool, several or none', async () => {
    const turns: LegacyToolTurn[] = [];
    const { lab, offered } = await labOf(
      (api) => {
        api.registerTool((turn: LegacyToolTurn) => {
          turns.push(turn);
          return turns.length === 1 ? [shout(), shout({ name: 'cry' })] : null;
        });
      },
      { workspaceDir: '/srv', config: { a: 1 } },
    );
    await using _lab = lab;
    await lab.say('go');
    expect(offered()).toEqual(['shout', 'cry']);
    await lab.say('go');
    expect(offered()).toEqual([]);
    expect(turns).toHaveLength(2);
    expect(turns[0]).toMatchObject({
      ...{ config: { a: 1 }, workspaceDir: '/srv', agentId: 'main', sessionId: 'session-1' },
      ...{ messageChannel: lab.channel.id, sandboxed: false, senderIsOwner: false },
    });
  });

  it.each<[string, unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('no key');
      },
      'the tool factory shout is left out: no key',
    ],
    ['gives a promise', async () => shout(), 'it gives a promise'],
    ['gives a text', () => 'shout', 'the tool undefined is left out: it is no object'],
    ['gives a tool without execute', () => shout({ execute: 1 }), 'it has no function "execute"'],
    ['gives a tool with a wrong schema', () => shout({ parameters: 'any' }), 'has not the type'],
  ])('leaves out what a factory gives that %s, and says so once', async (_, factory, problem) => {
    const { lab, logger, offered } = await labOf((api) => {
      api.registerTool(factory, { name: 'shout' });
      api.registerTool(shout({ name: 'whisper' }));
    });
    await using _lab = lab;
    await lab.say('go');
    await lab.say('go');
    expect(offered()).toEqual(['whisper']);
    const said = logger.entries.filter(({ level }) => level === 'error');
    expect(said).toHaveLength(1);
    expect(
      `${said[0]?.message}: ${String(said[0]?.fields?.['error'])}`.replace('Error: ', ''),
    ).toContain(problem);
  });

  it('leaves out a tool that is none when it is registered, and the plugin goes on', () => {
    const plugin = loadWith((api) => {
      api.registerTool({ name: 'broken' });
      api.registerTool(undefined);
      api.registerTool(shout());
    });
    expect(plugin.status).toBe('loaded');
    expect(plugin.tools).toMatchObject([{ names: ['shout'], optional: false }]);
    expect(plugin.diagnostics.map(({ message }) => message)).toEqual([
      'a tool is left out: it has no function "execute"',
      'a tool is left out: it is no object (undefined)',
    ]);
  });

  it('takes a schema without a type, and one of TypeBox with its symbols', async () => {
    const typebox = { ...parameters, [Symbol('TypeBox.Kind')]: 'Object' };
    const { lab, offered } = await labOf((api) => {
      api.registerTool(shout({ parameters: typebox }));
      api.registerTool(shout({ name: 'cry', parameters: undefined }));
      api.registerTool(
        shout({ name: 'sing', parameters: { properties: {} }, description: undefined }),
      );
    });
    await using _lab = lab;
    await lab.say('go');
    expect(offered()).toEqual(['shout', 'cry', 'sing']);
    expect(texts(lab)).toMatchObject([{ text: 'HI' }]);
  });

  it('lets nothing of a member that is not there into an answer, a schema or a name', async () => {
    const { lab, logger, offered } = await labOf(
      (api) => {
        const absent = () => api.runtime['tools']?.['createMemorySearchTool']?.({});
        api.registerTool(absent, { name: 'memory_search' });
        api.registerTool(shout({ description: `${String(api.runtime['tts'])}` }));
        api.registerTool(shout({ name: 'cry', execute: async () => absent() }));
        api.registerTool(
          shout({
            name: 'sob',
            execute: async () => ({ content: [{ type: 'text', text: `${String(absent())}` }] }),
          }),
        );
      },
      {},
      ['cry', 'sob'],
    );
    await using _lab = lab;
    await lab.say('go');
    expect(offered()).toEqual(['cry', 'sob']);
    const named = expect.stringContaining('api.runtime.tools.createMemorySearchTool');
    expect(texts(lab)).toEqual([
      { type: 'text', text: named },
      { type: 'text', text: named },
    ]);
    expect(JSON.stringify(logger.entries)).toContain('api.runtime.tts');
  });

  it('gives a tool for owners alone to owners', async () => {
    const { lab, offered } = await labOf((api) => api.registerTool(shout({ ownerOnly: true })));
    await using _lab = lab;
    await lab.say('go');
    expect(offered()).toEqual([]);
  });

  it('gives nobody a tool that does not say who may have it', async () => {
    const asker = shout({});
    Object.defineProperty(asker, 'ownerOnly', {
      get: () => {
        throw new Error('not now');
      },
    });
    const { lab, offered } = await labOf((api) => {
      api.registerTool(asker);
      api.registerTool(() => asker, { name: 'shout' });
    });
    await using _lab = lab;
    expect((await lab.say('go')).status).toBe('answered');
    expect(offered()).toEqual([]);
  });
});

describe('the tools that the operator allows (event pipeline §17.26)', () => {
  it.each<[string, Partial<LegacyPluginOptions>, readonly string[]]>([
    ['nothing', {}, ['whisper']],
    ['optionalTools', { optionalTools: ['shout'] }, ['shout', 'whisper']],
    ['optionalTools of all', { optionalTools: ['*'] }, ['shout', 'whisper']],
    ['alsoAllow', { config: { tools: { alsoAllow: ['Shout'] } } }, ['shout', 'whisper']],
    [
      'alsoAllow of the plugin',
      { config: { tools: { alsoAllow: ['acme'] } } },
      ['shout', 'whisper'],
    ],
    [
      'alsoAllow of plugins',
      { config: { tools: { alsoAllow: ['group:plugins'] } } },
      ['shout', 'whisper'],
    ],
    ['a pattern, which is no name', { config: { tools: { alsoAllow: ['sh*'] } } }, ['whisper']],
    ['allow of one', { config: { tools: { allow: ['shout'] } } }, ['shout']],
    ['allow of another', { config: { tools: { allow: ['read'] } } }, []],
    ['deny', { config: { tools: { deny: ['whis*'] } } }, []],
    [
      'deny, which wins',
      { optionalTools: ['*'], config: { tools: { deny: ['shout'] } } },
      ['whisper'],
    ],
    [
      'the agent',
      {
        config: {
          agents: { list: [{ id: 'main', tools: { alsoAllow: ['shout'], deny: ['whisper'] } }] },
        },
      },
      ['shout'],
    ],
    [
      'the agent, whatever the case of its id',
      { config: { agents: { list: [{ id: ' Main', tools: { deny: ['whisper'] } }] } } },
      [],
    ],
    [
      'another agent',
      { config: { agents: { list: [{ id: 'b', tools: { alsoAllow: ['shout'] } }] } } },
      ['whisper'],
    ],
    [
      'lists that are none',
      { config: { tools: { allow: 'shout', deny: 7 }, agents: 3 } },
      ['whisper'],
    ],
  ])('by %s', async (_, options, names) => {
    expect(await offeredBy(options)).toEqual(names);
  });
});

function loadWith(register: Register) {
  return loadLegacyPlugin(register, { kernel: createTestKernel().kernel, pluginId: 'acme' });
}
