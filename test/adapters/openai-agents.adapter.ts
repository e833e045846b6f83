import { Agent, RunContext, tool } from '@openai/agents';
import { cancel, createKernel, type Kernel } from 'sluice-kernel';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type JudgedCall, judge } from '../../extensions/openai-agents/src/index.js';
import { openAiAgents, openAiAgentsModel, runner } from './agents/openai-agents.js';
import { adapterLaws } from './laws.js';

adapterLaws('OpenAI Agents SDK', openAiAgents);

const given = () => ({});

/** A kernel that refuses `rm`, sets `n` to 1 where it is more, and hides secrets. */
function ruled(): Kernel {
  const kernel = createKernel();
  const acme = { extensionId: 'acme', failClosed: true } as const;
  kernel.contribute({
    ...{ ...acme, family: 'agent.tool.calling', class: 'mutator', id: 'one' },
    handler: ({ payload: { params } }) =>
      Number(params['n']) > 1 ? { params: { n: 1 } } : undefined,
  });
  kernel.contribute({
    ...{ extensionId: 'acme', family: 'agent.tool.calling', class: 'veto', id: 'rm' },
    handler: ({ payload: { params } }) =>
      params['command'] === 'rm' ? cancel('policy', { text: 'No.' }) : undefined,
  });
  kernel.contribute({
    ...{ ...acme, family: 'agent.tool.returning', class: 'mutator', id: 'hide' },
    handler: ({ payload: { result } }) => ({
      result: JSON.parse(JSON.stringify(result).replaceAll('sk-SECRET', '[hidden]')),
    }),
  });
  return kernel;
}

/** The call of a guardrail, as the SDK makes it. */
const guarded = (input: string) => ({
  context: new RunContext({}),
  agent: new Agent({ name: 'it' }),
  toolCall: { type: 'function_call' as const, name: 'it', callId: 'c', arguments: input },
});

describe('a tool of the OpenAI Agents SDK', () => {
  it.each(['no JSON', '7', '["a"]', 'null', '""'])(
    'does not run if its input is no object: %s',
    async (input) => {
      const any = tool({
        ...({ name: 'any', description: 'any', strict: false } as const),
        parameters: {
          type: 'object',
          properties: {},
          required: [],
          additionalProperties: true,
        } as const,
        execute: async () => 'ran',
      });
      const [judged] = judge(ruled(), { given }).tools([any]);
      expect(await judged?.invoke(new RunContext({}), input)).toMatch(
        /its arguments are no object/,
      );
    },
  );

  it('that may end a run by its failure does so, in the words that handlers leave', async () => {
    const failing = tool({
      ...{ name: 'failing', description: 'fails', parameters: z.object({}), errorFunction: null },
      execute: async () => {
        throw new Error('no sk-SECRET');
      },
    });
    const model = openAiAgentsModel([[{ id: 'c', name: 'failing', args: {} }]]);
    const agent = new Agent({
      name: 'it',
      model,
      tools: judge(ruled(), { given }).tools([failing]),
    });
    const thrown: unknown = await runner(model)
      .run(agent, 'go')
      .catch((error: unknown) => error);
    expect(String(thrown)).toContain('the tool failed: no [hidden]');
    expect(String(thrown)).not.toContain('SECRET');
  });

  it('keeps all that the SDK has put into it', () => {
    const one = tool({
      name: 'one',
      description: 'one',
      parameters: z.object({}),
      execute: () => '',
    });
    const [judged] = judge(ruled(), { given }).tools([one]);
    expect(Object.keys(judged ?? {}).sort()).toEqual(Object.keys(one).sort());
    expect(Reflect.ownKeys(judged ?? {}).length).toBe(Reflect.ownKeys(one).length);
  });

  it('that runs at the provider must be named, because no judge can stop it', () => {
    const hosted = { type: 'hosted_tool' as const, name: 'web_search', providerData: {} };
    expect(() => judge(ruled(), { given }).tools([hosted])).toThrow(
      /"web_search" is no function tool.*"unjudged"/,
    );
    expect(judge(ruled(), { given, unjudged: ['web_search'] }).tools([hosted])).toEqual([hosted]);
  });
});

it('the program says the type of its context, and may leave a tool alone', () => {
  const options = {
    given: ({ context }: JudgedCall<{ readonly user: string }>) => ({
      sessionId: context?.user ?? 'none',
    }),
    unjudged: ['one'],
  };
  const one = tool({ name: 'one', description: '1', parameters: z.object({}), execute: () => '' });
  const [same] = judge(ruled(), options).tools([one]);
  expect(same).toBe(one);
});

describe('the guardrails of an MCP server', () => {
  const behaviour = async (input: string) => {
    const [guardrail] = judge(ruled(), { given }).toolInputGuardrails;
    return (await guardrail?.run(guarded(input)))?.behavior;
  };

  it('refuse a call, and let another pass', async () => {
    expect(await behaviour('{"command":"rm"}')).toEqual({ type: 'rejectContent', message: 'No.' });
    expect(await behaviour('{"command":"ls"}')).toEqual({ type: 'allow' });
    expect(await behaviour('no JSON')).toMatchObject({ type: 'rejectContent' });
  });

  it('refuse a call whose arguments a handler has changed: they cannot hand them on', async () => {
    expect(await behaviour('{"n":5}')).toMatchObject({
      message: expect.stringContaining('a handler has changed its arguments'),
    });
  });

  it('hide a secret of a result, in the SDK’s own run of the tool', async () => {
    const { toolInputGuardrails: inputGuardrails, toolOutputGuardrails: outputGuardrails } = judge(
      ruled(),
      { given },
    );
    // a tool of an MCP server is made so, inside of the agent
    const remote = tool({
      ...{ name: 'remote', description: 'r', parameters: z.object({ command: z.string() }) },
      ...{ inputGuardrails, outputGuardrails },
      execute: async ({ command }) => `ran ${command}: sk-SECRET`,
    });
    const calls = ['ls', 'rm'].map((command, at) => ({
      id: `c${at}`,
      name: 'remote',
      args: { command },
    }));
    const model = openAiAgentsModel([calls]);
    await runner(model).run(new Agent({ name: 'it', model, tools: [remote] }), 'go');
    expect(model.read()).toEqual({ c0: 'ran ls: [hidden]', c1: 'No.' });
  });
});
