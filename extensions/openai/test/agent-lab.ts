import type { Extension } from 'sluice';
import type {
  AgentProvider,
  AgentRequest,
  AssistantMessage,
  SessionEvent,
  ToolDefinition,
} from 'sluice/stream';
import { textOf } from 'sluice/stream';
import { startTestHost, type TestHost, type TestHostOptions } from 'sluice/testing';
import { agentsOf, config } from '../src/config.js';
import openai from '../src/index.js';
import { type OpenAiParts, openAiProvider } from '../src/openai-agent.js';
import { type Answer, type Asked, modelServer } from './model-server.js';

/** A host whose agent asks a scripted model. */
export interface AgentLab extends AsyncDisposable {
  readonly test: TestHost;
  readonly asked: readonly Asked[];
  readonly url: string;
}

/** Starts one. @param config of the extension; the agent has the id `it`. */
export async function agentLab(
  answers: readonly Answer[],
  config: object = {},
  { extensions = [], ...options }: TestHostOptions = {},
): Promise<AgentLab> {
  const server = await modelServer(...answers);
  const { agent = {}, ...top } = config as { readonly agent?: object };
  const agents = [{ id: 'it', model: 'm-1', url: server.url, ...agent }];
  const test = await startTestHost({
    defaultAgent: 'it',
    ...options,
    extensions: [{ extension: openai as Extension, config: { agents, ...top } }, ...extensions],
  });
  return {
    ...{ test, asked: server.asked, url: server.url },
    [Symbol.asyncDispose]: async () => {
      await test[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A tool of the host that says how it was called. */
export const weather: ToolDefinition = {
  name: 'weather',
  description: 'The weather of a city.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  execute: ({ city }) => `sunny in ${String(city)}`,
};

/** An agent without a host. */
export function providerOf(settings: object, parts: OpenAiParts = {}): AgentProvider {
  const [first] = agentsOf(config.parse({ agents: [{ id: 'it', model: 'm-1', ...settings }] }));
  if (first === undefined) throw new Error('there is no agent');
  return openAiProvider(first, parts);
}

/** The request of a turn without a host. */
export function requestOf(fields: Partial<AgentRequest> = {}): AgentRequest {
  return {
    ...{ runId: 'r', agentId: 'main', sessionId: 's', sessionKey: 'k', model: 'm-1', prompt: 'p' },
    ...{ attachments: [], history: [], signal: new AbortController().signal },
    session: { context: {}, memoryKeys: [], metadata: {} },
    keepSession: () => undefined,
    gate: async ({ args }) => ({ allowed: true, args }),
    tell: () => undefined,
    offer: () => [],
    written: () => [],
    llmCalling: () => undefined,
    llmReturning: (message) => message,
    toolReturning: async (_call, result) => result,
    ...fields,
  };
}

/** One turn of an agent without a host: what it said, thought and called, and its failure. */
export async function turnOf(
  answers: readonly Answer[],
  settings: object = {},
  parts: OpenAiParts = {},
) {
  await using server = await modelServer(...answers);
  return await turnAt(providerOf({ url: server.url, ...settings }, parts));
}

/** One turn of an agent that is there. */
export async function turnAt(provider: AgentProvider) {
  const messages: AssistantMessage[] = [];
  const events: SessionEvent[] = [];
  let failure: string | undefined;
  try {
    for await (const event of provider.run(requestOf())) {
      events.push(event);
      if (event.type === 'message_end') messages.push(event.message);
    }
  } catch (thrown) {
    failure = Object(thrown).message;
  }
  const blocks = messages.flatMap(({ content }) => content);
  return {
    ...{ messages, events, failure },
    text: messages.map(textOf).join(''),
    thinking: blocks.map((one) => (one.type === 'thinking' ? one.thinking : '')).join(''),
    calls: blocks.flatMap((one) => (one.type === 'toolCall' ? [one] : [])),
  };
}
