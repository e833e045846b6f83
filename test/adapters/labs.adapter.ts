import { Agent, tool as agentTool, Runner } from '@openai/agents';
import { tool as aiTool, generateText, isStepCount } from 'ai';
import { tool as chainTool, createAgent } from 'langchain';
import { judge as judgeAiSdk } from 'sluice-ai-sdk';
import { allow, cancel, createKernel } from 'sluice-kernel';
import { judge as judgeLangChain } from 'sluice-langchain';
import { judge as judgeOpenAiAgents } from 'sluice-openai-agents';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { aiSdkModel } from './agents/ai-sdk.js';
import { langChainModel } from './agents/langchain.js';
import { openAiAgentsModel } from './agents/openai-agents.js';

/*
 * Three programs, written from docs/kernel.md and docs/adapters.md alone: each stops `rm -rf`, clamps an argument and hides a secret.
 */
const kernel = createKernel();
const lab = { extensionId: 'lab', failClosed: true } as const;
kernel.contribute({
  ...{ ...lab, family: 'agent.tool.calling', class: 'veto', id: 'rm' },
  handler: ({ payload: { params } }) =>
    String(params['command']).includes('rm -rf')
      ? cancel('policy', { text: 'Nothing is removed here.' })
      : allow(),
});
kernel.contribute({
  ...{ ...lab, family: 'agent.tool.calling', class: 'mutator', id: 'clamp' },
  handler: ({ payload: { params } }) =>
    Number(params['lines']) > 100 ? { params: { lines: 100 } } : undefined,
});
kernel.contribute({
  ...{ ...lab, family: 'agent.tool.returning', class: 'mutator', id: 'hide' },
  handler: ({ payload: { result } }) => ({
    result: {
      ...result,
      content: result.content.map((block) =>
        block.type === 'text' ? { ...block, text: block.text.replace(/tok_\w+/g, '***') } : block,
      ),
    },
  }),
});

const shape = z.object({ command: z.string(), lines: z.number() });
const about = { description: 'Runs a command.' };
let ran: string[] = [];
const execute = async ({ command, lines }: z.infer<typeof shape>) => {
  ran.push(command);
  return `${lines} lines of ${command}, with tok_123`;
};
const given = () => ({ sessionId: 'lab' });
type Models = [
  ReturnType<typeof aiSdkModel>,
  ReturnType<typeof openAiAgentsModel>,
  ReturnType<typeof langChainModel>,
];

async function inAiSdk(model: Models[0], isJudged: boolean) {
  const plain = { bash: aiTool({ ...about, inputSchema: shape, execute }) };
  const tools = isJudged ? judgeAiSdk(kernel, { given }).tools(plain) : plain;
  await generateText({ model, tools, prompt: 'Look around.', stopWhen: isStepCount(3) });
}

async function inOpenAiAgents(model: Models[1], isJudged: boolean) {
  const plain = [agentTool({ ...about, name: 'bash', parameters: shape, execute })];
  const tools = isJudged ? judgeOpenAiAgents(kernel, { given }).tools(plain) : plain;
  await new Runner({ tracingDisabled: true }).run(
    new Agent({ name: 'lab', model, tools }),
    'Look.',
  );
}

async function inLangChain(model: Models[2], isJudged: boolean) {
  const tools = [chainTool(execute, { ...about, name: 'bash', schema: shape })];
  const middleware = isJudged ? judgeLangChain(kernel, { given }).middleware() : [];
  const agent = createAgent({ model, tools, middleware });
  await agent.invoke({ messages: [{ role: 'user', content: 'Look around.' }] });
}

const calls = [
  { id: 'c1', name: 'bash', args: { command: 'rm -rf /', lines: 1 } },
  { id: 'c2', name: 'bash', args: { command: 'cat log', lines: 9_999 } },
];

it.each([
  ['AI SDK', aiSdkModel, inAiSdk],
  ['OpenAI Agents SDK', openAiAgentsModel, inOpenAiAgents],
  ['LangChain', langChainModel, inLangChain],
] as const)(
  'a program of the %s that is written from the pages alone stops, clamps and hides',
  async (_, modelOf, program) => {
    const read = async (isJudged: boolean) => {
      ran = [];
      const model = modelOf([calls]);
      await program(model as never, isJudged); // its own
      return { ran, read: model.read() };
    };
    expect(await read(true)).toEqual({
      ran: ['cat log'],
      read: { c1: 'Nothing is removed here.', c2: '100 lines of cat log, with ***' },
    });
    expect(await read(false)).toEqual({
      ran: ['rm -rf /', 'cat log'],
      read: {
        c1: '1 lines of rm -rf /, with tok_123',
        c2: '9999 lines of cat log, with tok_123',
      },
    });
  },
);
