import { ToolMessage } from '@langchain/core/messages';
import { Command, interrupt, MemorySaver } from '@langchain/langgraph';
import { createAgent, createMiddleware, tool } from 'langchain';
import { ask, cancel, createKernel, type Kernel } from 'sluice-kernel';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type JudgeOptions, judge } from '../../extensions/langchain/src/index.js';
import { langChain, langChainModel } from './agents/langchain.js';
import { adapterLaws } from './laws.js';

adapterLaws('LangChain', langChain);

const given = () => ({});

/** A kernel that refuses `rm -rf`, asks about `deploy`, and hides secrets. */
function ruled(): Kernel {
  const kernel = createKernel();
  kernel.contribute({
    ...{ extensionId: 'acme', family: 'agent.tool.calling', class: 'veto', id: 'shell' },
    handler: ({ payload: { params } }) => {
      if (params['command'] === 'deploy') return ask({ title: 'Deploy?' });
      return params['command'] === 'rm -rf /late' ? cancel('policy', { text: 'No.' }) : undefined;
    },
  });
  kernel.contribute({
    ...{ extensionId: 'acme', family: 'agent.tool.returning', class: 'mutator', id: 'hide' },
    handler: ({ payload: { result } }) => ({
      result: JSON.parse(JSON.stringify(result).replaceAll('sk-SECRET', '[hidden]')),
    }),
  });
  return kernel;
}

const ran: string[] = [];
const shell = tool(
  async ({ command }) => {
    ran.push(command);
    return `ran ${command}`;
  },
  { name: 'shell', description: 'Runs it.', schema: z.object({ command: z.string() }) },
);
const call = (command: string, name = 'shell') => [{ id: 'c1', name, args: { command } }];

/** Runs an agent with a tool, and gives the messages with results. */
async function resultsOf(
  one: typeof shell,
  options: Partial<JudgeOptions> = {},
  name: string = one.name,
) {
  const model = langChainModel([call('ls', name)]);
  const middleware = judge(ruled(), { given, ...options }).middleware();
  const agent = createAgent({ model, tools: [one], middleware });
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'go' }] });
  return messages.filter((message) => ToolMessage.isInstance(message));
}

describe('the place of the judge among the middleware', () => {
  const other = createMiddleware({
    name: 'other',
    wrapToolCall: (request, handler) => handler(request),
  });

  it('is the innermost one', () => {
    const names = judge(ruled(), { given })
      .middleware([other])
      .map(({ name }) => name);
    expect(names).toEqual(['other', 'sluice']);
  });

  it('is told when the list is built, by the names of those that stand inside of it', () => {
    const judged = judge(ruled(), { given });
    const talks = createMiddleware({ name: 'talks', beforeModel: () => undefined });
    expect(() => judged.middleware([...judged.middleware(), talks, other])).toThrow(
      'inside of the judge stands "other", which can change a judged call',
    );
    expect(judged.middleware([other, ...judged.middleware(), talks])).toHaveLength(3);
  });

  it('does not matter for the arguments: they are judged at the tool (langchain #40694)', async () => {
    const late = createMiddleware({
      name: 'late',
      wrapToolCall: (request, handler) =>
        handler({
          ...request,
          toolCall: { ...request.toolCall, args: { command: 'rm -rf /late' } },
        }),
    });
    ran.length = 0;
    const model = langChainModel([call('env')]);
    const middleware = [...judge(ruled(), { given }).middleware(), late];
    await createAgent({ model, tools: [shell], middleware }).invoke({ messages: [] });
    expect(ran).toEqual([]);
    expect(model.read()).toEqual({ c1: 'No.' });
  });

  it('ends the run if a middleware inside of it answers a call by itself', async () => {
    const answers = createMiddleware({
      name: 'answers',
      wrapToolCall: ({ toolCall }) =>
        new ToolMessage({ content: 'sk-SECRET', tool_call_id: toolCall.id ?? '' }),
    });
    const model = langChainModel([call('ls')]);
    const middleware = [...judge(ruled(), { given }).middleware(), answers];
    const run = createAgent({ model, tools: [shell], middleware }).invoke({ messages: [] });
    await expect(run).rejects.toThrow(
      'a middleware inside of the judge has answered the call of "shell" itself',
    );
  });
});

describe('a tool of LangChain', () => {
  it('whose call is refused answers with an error', async () => {
    const denied = { onAsk: () => false };
    const model = langChainModel([call('deploy')]);
    const middleware = judge(ruled(), { given, ...denied }).middleware();
    const { messages } = await createAgent({ model, tools: [shell], middleware }).invoke({
      messages: [],
    });
    const [result] = messages.filter((message) => ToolMessage.isInstance(message));
    expect(result).toMatchObject({ status: 'error', name: 'shell', content: 'a human denied it' });
  });

  it('that there is not, is judged, and answers so', async () => {
    const [result] = await resultsOf(shell, {}, 'nothing');
    expect(result).toMatchObject({
      status: 'error',
      content: 'the tool failed: there is no tool "nothing"',
    });
  });

  it('keeps its message if no handler changes it, with its artifact', async () => {
    const pictured = tool(async () => [[{ type: 'text', text: 'a map' }], { secret: 1 }], {
      ...{ name: 'map', description: 'A map.', schema: z.object({ command: z.string() }) },
      responseFormat: 'content_and_artifact',
    });
    const [result] = await resultsOf(pictured as never);
    expect(result).toMatchObject({
      content: [{ type: 'text', text: 'a map' }],
      artifact: { secret: 1 },
    });
  });

  it('loses its artifact with a content that a handler changes', async () => {
    const pictured = tool(async () => [[{ type: 'text', text: 'sk-SECRET' }], 'sk-SECRET'], {
      ...{ name: 'map', description: 'A map.', schema: z.object({ command: z.string() }) },
      responseFormat: 'content_and_artifact',
    });
    const [result] = await resultsOf(pictured as never);
    expect(result).toMatchObject({ content: [{ type: 'text', text: '[hidden]' }] });
    expect(JSON.stringify(result)).not.toContain('SECRET');
  });

  it('that gives a Command is judged by all that the Command brings', async () => {
    const moves = (text: string) =>
      tool(
        async (_, { toolCallId }: { toolCallId: string }) =>
          new Command({
            update: { messages: [new ToolMessage({ content: text, tool_call_id: toolCallId })] },
          }),
        { name: 'moves', description: 'Moves.', schema: z.object({ command: z.string() }) },
      );
    const [plain] = await resultsOf(moves('moved') as never);
    expect(plain?.content).toBe('moved');
    const [hidden] = await resultsOf(moves('sk-SECRET') as never);
    expect(hidden?.content).toContain('[hidden]');
    expect(JSON.stringify(hidden)).not.toContain('SECRET');
  });

  it('waits for a human by an interrupt, and is judged again when the run is resumed', async () => {
    ran.length = 0;
    const kernel = ruled();
    const onAsk: JudgeOptions['onAsk'] = ({ title }) => interrupt(title) === 'yes';
    const agent = createAgent({
      model: langChainModel([call('deploy')]),
      tools: [shell],
      middleware: judge(kernel, { given, onAsk }).middleware(),
      checkpointer: new MemorySaver(),
    });
    const thread = { configurable: { thread_id: 't' } };
    const asked = await agent.invoke({ messages: [{ role: 'user', content: 'go' }] }, thread);
    expect([ran, Object(asked).__interrupt__?.[0].value]).toEqual([[], 'Deploy?']);
    const { messages } = await agent.invoke(new Command({ resume: 'yes' }), thread);
    expect([ran, messages.at(-2)?.content]).toEqual([['deploy'], 'ran deploy']);
  });
});
