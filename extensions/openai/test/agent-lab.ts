import type { Extension } from 'sluice';
import type { ToolDefinition } from 'sluice/stream';
import { startTestHost, type TestHost, type TestHostOptions } from 'sluice/testing';
import openai from '../src/index.js';
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
    defaultAgentId: 'it',
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
