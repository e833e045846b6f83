import { describe, expect, it } from 'vitest';
import { givenTools } from '../../../src/agent/tools/given-tools.js';
import { cancel, deferred, type Kernel } from '../../../src/kernel/internal.js';
import { defineExtension } from '../../../src/sdk/extension/index.js';
import type { AgentProvider, ToolDefinition, ToolUse } from '../../../src/sdk/stream/index.js';
import {
  type AgentStep,
  collectingLogger,
  scriptedAgent,
  virtualClock,
} from '../../../src/testing/index.js';
import { type HostLab, type HostLabOptions, hostLab } from '../../support/host-lab.js';

const inputSchema = {
  type: 'object',
  properties: { sides: { type: 'integer', minimum: 2 } },
  required: ['sides'],
};

function tool(given: Partial<ToolDefinition> = {}): ToolDefinition {
  return {
    name: 'dice',
    description: 'Throws a die.',
    inputSchema,
    execute: ({ sides }) => `of ${String(sides)}`,
    ...given,
  };
}

function giving(id: string, ...tools: unknown[]) {
  return {
    extension: defineExtension({
      id,
      setup: (api) => {
        for (const one of tools) api.provide('tool', one as ToolDefinition); // some are none
      },
    }),
  };
}

const throws: AgentStep = { tool: 'dice', args: { sides: 6 } };

interface LabOptions extends Omit<HostLabOptions, 'extensions'> {
  readonly steps?: readonly AgentStep[];
  readonly provider?: AgentProvider;
}

function labWith(tools: readonly unknown[], options: LabOptions = {}): Promise<HostLab> {
  const { steps = [throws, 'It lies.'], provider = scriptedAgent([steps]), ...rest } = options;
  return hostLab({
    agents: [{ id: 'main', provider }],
    extensions: [giving('acme', ...tools)],
    ...rest,
  });
}

function calledIn(lab: HostLab) {
  return lab.of('agent.tool.called').map(({ event }) => event.payload);
}

async function answerOf(given: Partial<ToolDefinition>, options: LabOptions = {}) {
  await using lab = await labWith([tool(given)], options);
  await lab.say('throw');
  const [called] = calledIn(lab);
  return called;
}

const vetoes = (kernel: Kernel) =>
  kernel.contribute({
    ...{ extensionId: 'test', id: 'guard' },
    family: 'agent.tool.calling',
    class: 'veto',
    handler: () => cancel('policy', { text: 'No games.' }),
  });

describe('a tool that an extension gives to the agents of a host (event pipeline §16.22)', () => {
  it('is called with its arguments, and its answer is told and kept', async () => {
    const uses: unknown[] = [];
    await using lab = await labWith([
      tool({
        execute: ({ sides }, { toolCallId, agentId, sessionKey, sessionId, runId }) => {
          uses.push({ toolCallId, agentId, sessionKey, sessionId, runId });
          return { content: [{ type: 'text', text: `a ${String(sides)}` }], details: { sides } };
        },
      }),
    ]);
    expect(await lab.say('throw')).toMatchObject({ status: 'answered' });
    const result = {
      content: [{ type: 'text', text: 'a 6' }],
      isError: false,
      details: { sides: 6 },
    };
    expect(calledIn(lab)).toMatchObject([
      { toolName: 'dice', params: { sides: 6 }, isError: false, result },
    ]);
    expect(lab.of('agent.tool.calling')).toHaveLength(1);
    expect(lab.of('transcript.tool-result.persisting')).toMatchObject([
      {
        event: {
          payload: {
            toolName: 'dice',
            message: { content: [{ type: 'text', text: 'a 6' }], details: { sides: 6 } },
          },
        },
      },
    ]);
    expect(uses).toEqual([
      {
        toolCallId: 'run-1-0',
        agentId: 'main',
        sessionKey: expect.any(String),
        sessionId: 'session-1',
        runId: 'run-1',
      },
    ]);
  });

  it('does not run when a veto refuses the call, also if its provider asks no gate', async () => {
    let runs = 0;
    const given = { execute: () => String(++runs) };
    expect(await answerOf(given, { contribute: vetoes })).toMatchObject({
      isError: true,
      error: 'No games.',
    });
    expect(runs).toBe(0);
  });

  it('runs with the arguments that a mutator has made of them', async () => {
    const contribute = (kernel: Kernel) =>
      kernel.contribute({
        ...{ extensionId: 'test', id: 'loaded' },
        family: 'agent.tool.calling',
        class: 'mutator',
        handler: () => ({ params: { sides: 20 } }),
      });
    expect(await answerOf({}, { contribute })).toMatchObject({
      params: { sides: 20 },
      result: { content: [{ text: 'of 20' }] },
    });
  });

  it('does not run with arguments that do not fit its schema, patched ones among them', async () => {
    const contribute = (kernel: Kernel) =>
      kernel.contribute({
        ...{ extensionId: 'test', id: 'loaded' },
        family: 'agent.tool.calling',
        class: 'mutator',
        handler: () => ({ params: { sides: 'many' } }),
      });
    const error = 'the tool did not run: arguments.sides must be integer';
    expect(await answerOf({}, { contribute })).toMatchObject({ isError: true, error });
    const steps: AgentStep[] = [{ tool: 'dice' }, 'Hm.'];
    const missing = 'the tool did not run: arguments.sides is required';
    expect(await answerOf({}, { steps })).toMatchObject({ isError: true, error: missing });
  });

  it('runs once for a call that is asked for twice', async () => {
    let runs = 0;
    const provider: AgentProvider = {
      ...scriptedAgent([['Well.']]),
      async *run({ tools = [] }) {
        const call = { toolCallId: 't', args: { sides: 6 } };
        const results = await Promise.all([tools[0]?.call(call), tools[0]?.call(call)]);
        yield { type: 'agent_start' };
        yield { type: 'tool_execution_start', toolName: 'dice', ...call };
        yield {
          ...{ type: 'tool_execution_end', toolName: 'dice', toolCallId: 't' },
          ...{ result: results, isError: false },
        };
        yield { type: 'agent_end', messages: [] };
      },
    };
    expect(await answerOf({ execute: () => String(++runs) }, { provider })).toMatchObject({
      result: { content: [{ text: '1' }] },
    });
    expect(runs).toBe(1);
  });
});

describe('the answer of a tool (event pipeline §16.22)', () => {
  it.each<[string, unknown, object]>([
    ['nothing', undefined, { content: [{ text: 'The tool has given no answer.' }] }],
    ['a number', 7, { content: [{ text: '7' }] }],
    ['an object without content', { a: 1 }, { content: [{ text: '{"a":1}' }] }],
    ['no blocks', { content: [] }, { content: [{ text: 'The tool has given no answer.' }] }],
    [
      'no blocks, and details',
      { content: [], details: { a: 1 } },
      { content: [{ text: '{"a":1}' }] },
    ],
    ['a text for content', { content: 'hi' }, { content: [{ text: 'hi' }] }],
    [
      'a block that is none',
      { content: [{ type: 'odd' }] },
      { content: [{ text: '{"type":"odd"}' }] },
    ],
    ['a cycle', cycle(), { content: [{ text: '[object Object]' }] }],
  ])('is made of %s', async (_, value, result) => {
    const called = await answerOf({ execute: () => value });
    expect(called).toMatchObject({ isError: false, result });
  });

  it('is cut when it is long, and says so', async () => {
    const called = await answerOf({ execute: () => 'x'.repeat(10_000_000) });
    const [block] = (Object(called?.result) as { content: { text: string }[] }).content;
    expect(block?.text.length).toBeLessThan(400_100);
    expect(block?.text).toContain('[cut: these are 400000 of 10000000 characters]');
    const content = [{ type: 'image', data: 'x'.repeat(20_000_000), mimeType: 'image/png' }];
    expect(
      await answerOf({ execute: () => ({ content, details: 'x'.repeat(500_000) }) }),
    ).toMatchObject({
      result: { content: [{ text: '[a picture (image/png) is left out: too large]' }] },
    });
  });

  it('is a failure when the tool throws, says so itself, or cannot be read', async () => {
    const broken = () => {
      throw new Error('no die\nis here');
    };
    expect(await answerOf({ execute: broken })).toMatchObject({
      isError: true,
      error: 'the tool failed: no die is here',
    });
    const says = () => ({ content: [{ type: 'text', text: 'lost' }], isError: true });
    expect(await answerOf({ execute: says })).toMatchObject({ isError: true, error: 'lost' });
    const odd = () => ({
      get content() {
        throw new Error('not today');
      },
    });
    expect(await answerOf({ execute: odd })).toMatchObject({ isError: true });
  });

  it('is a failure when the tool hangs for longer than it may, and its signal aborts', async () => {
    let signal: AbortSignal | undefined;
    const hangs = tool({
      timeoutMs: 5_000,
      execute: (_, use) => {
        signal = use.signal;
        return new Promise(() => undefined);
      },
    });
    await using lab = await labWith([hangs]);
    const said = lab.say('throw');
    await lab.clock.advance(5_000);
    expect(await said).toMatchObject({ status: 'answered' });
    expect(calledIn(lab)).toMatchObject([
      { isError: true, error: 'the tool did not answer within 5000 ms' },
    ]);
    expect(signal?.aborted).toBe(true);
  });

  it('is not waited for when the turn is stopped', async () => {
    let signal: AbortSignal | undefined;
    let begun: () => void = () => undefined;
    const isRunning = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const hangs = tool({
      execute: (_, use) => {
        signal = use.signal;
        begun();
        return new Promise(() => undefined);
      },
    });
    await using lab = await labWith([hangs]);
    const said = lab.say('throw');
    await isRunning;
    await lab.say('/stop');
    expect(await said).toMatchObject({ status: 'aborted' });
    expect(signal?.aborted).toBe(true);
  });

  it('is not waited for when the turn has ended without it, and its signal aborts', async () => {
    let signal: AbortSignal | undefined;
    const { promise: isRunning, resolve: begun } = deferred();
    const hangs = {
      execute: (_: unknown, use: ToolUse) => {
        signal = use.signal;
        begun();
        return new Promise(() => undefined);
      },
    };
    const provider: AgentProvider = {
      ...scriptedAgent([['Well.']]),
      async *run({ tools = [] }) {
        yield { type: 'agent_start' };
        void tools[0]?.call({ toolCallId: 't', args: { sides: 6 } });
        await isRunning;
        yield { type: 'agent_end', messages: [] };
      },
    };
    await answerOf(hangs, { provider });
    expect(signal?.aborted).toBe(true);
  });

  it('is a failure, and the tool does not run, if the call cannot be judged', async () => {
    let runs = 0;
    const ids = { agentId: 'main', sessionKey: 'k', sessionId: 's', runId: 'r' };
    const [given] = givenTools([tool({ execute: () => ++runs })], {
      run: { ...ids, trigger: 'user' },
      gate: () => Promise.reject(new Error('the disk is full')),
      judge: { returning: async (_call, result) => result, judgesResults: false },
      around: (work) => work(),
      clock: virtualClock(),
      logger: collectingLogger(),
      signal: new AbortController().signal,
    });
    expect(await given?.call({ toolCallId: 't', args: { sides: 6 } })).toEqual({
      content: [{ type: 'text', text: 'the call could not be judged: the disk is full' }],
      isError: true,
    });
    expect(runs).toBe(0);
  });
});

describe('the tools of a turn (event pipeline §16.23)', () => {
  it('leave out a tool whose name another has: of the agent, or of an extension before it', async () => {
    const provider = { ...scriptedAgent([[throws, 'Well.']]), ownTools: ['Bash'] };
    const extensions = [
      giving('acme', tool(), tool({ execute: () => 'second' }), tool({ name: 'bash' })),
      giving('zeta', tool({ name: 'Dice' })),
    ];
    await using lab = await hostLab({ agents: [{ id: 'main', provider }], extensions });
    await lab.say('throw');
    await lab.say('throw again');
    expect(calledIn(lab)[0]).toMatchObject({ result: { content: [{ text: 'of 6' }] } });
    const left = lab.log.entries.filter(({ message }) => message === 'a tool is left out');
    expect(left.map(({ fields }) => fields)).toEqual([
      { extensionId: 'acme', tool: 'dice', problem: '"acme" has a tool of that name' },
      {
        extensionId: 'acme',
        tool: 'bash',
        problem: 'the agent "scripted" has a tool of that name',
      },
      { extensionId: 'zeta', tool: 'dice', problem: '"acme" has a tool of that name' },
    ]);
  });

  it.each<[string, Partial<ToolDefinition>]>([
    ['a name with a space', { name: 'the dice' }],
    ['the name of a tool behind a server', { name: 'mcp__a__b' }],
    ['a schema of a list', { inputSchema: { type: 'array' } }],
    ['no function', { execute: undefined as never }],
  ])('leave out a tool with %s', async (_, wrong) => {
    const agent = scriptedAgent([['Well.']]);
    await using lab = await labWith([tool(wrong), tool()], { provider: agent });
    await lab.say('throw');
    expect(agent.requests[0]?.tools?.map(({ name }) => name)).toEqual(['dice']);
    expect(lab.log.messages('error')).toEqual(['a tool is left out']);
  });

  it('have a tool whose schema cannot be used whole: it is called, shown without that keyword, and told once (§16.30)', async () => {
    const inputSchema = {
      type: 'object',
      properties: { sides: { type: 'integer', minimum: 2 }, at: { type: 'text', pattern: '\\-' } },
      required: ['sides'],
    };
    const agent = scriptedAgent([[{ tool: 'dice', args: { sides: 6, at: '-' } }, 'Well.']]);
    await using lab = await labWith([tool({ inputSchema })], { provider: agent });
    await lab.say('throw');
    await lab.say('throw again');
    expect(agent.requests[1]?.tools?.[0]?.inputSchema['properties']).toEqual({
      sides: { type: 'integer', minimum: 2 },
      at: {},
    });
    expect(calledIn(lab)[0]).toMatchObject({ result: { content: [{ text: 'of 6' }] } });
    const told = lab.log.entries.filter(({ level }) => level === 'warn');
    expect(told.map(({ message, fields }) => [message, fields])).toEqual([
      [
        'a tool is offered with a part of its schema',
        {
          tool: 'dice',
          problem: expect.stringMatching(/^\/properties\/at\/type .*; \/properties\/at\/pattern /),
          lost: 2,
        },
      ],
    ]);
  });

  it('show a schema of variants as one object, and judge by the whole', async () => {
    const schema = {
      type: 'object',
      oneOf: [
        {
          properties: { do: { const: 'read' }, path: { type: 'string' } },
          required: ['do', 'path'],
        },
        { properties: { do: { const: 'list' } }, required: ['do'] },
      ],
    };
    const agent = scriptedAgent([[{ tool: 'dice', args: { do: 'read' } }, 'Well.']]);
    await using lab = await labWith([tool({ inputSchema: schema })], { provider: agent });
    await lab.say('throw');
    expect(agent.requests[0]?.tools?.[0]?.inputSchema).toEqual({
      type: 'object',
      properties: {
        do: { anyOf: [{ const: 'read' }, { const: 'list' }] },
        path: { type: 'string' },
      },
      required: ['do'],
    });
    expect(calledIn(lab)).toMatchObject([{ isError: true }]);
  });

  it('are none for an agent that takes none', async () => {
    const { ownTools: _, ...provider } = scriptedAgent([[{ ...throws, result: 'own' }, 'Well.']]);
    expect(await answerOf({}, { provider })).toMatchObject({ result: 'own' });
  });
});

function cycle(): object {
  const one: { self?: object } = {};
  one.self = one;
  return one;
}
