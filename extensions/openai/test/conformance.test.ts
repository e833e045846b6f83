import { agentConformance } from 'sluice/testing';
import { describe, it } from 'vitest';
import { providerOf, weather } from './agent-lab.js';
import { type Answer, calls, fails, modelServer, open, says, write } from './model-server.js';

const answer: Answer = (response, asked) => {
  const { messages } = asked.body;
  const prompt = messages.find(({ role }) => role === 'user')?.content;
  if (messages.at(-1)?.role === 'tool') return says('It is sunny.')(response, asked);
  if (prompt === 'weather') return calls(['weather', { city: 'Rome' }])(response, asked);
  if (prompt === 'fail') return fails(400, { message: 'no' })(response, asked);
  if (prompt !== 'endless') return says('hello to you')(response, asked);
  open(response);
  write(response, { content: 'on and on' });
};

describe('an agent of chat completions keeps the rules of an agent provider', () => {
  const checks = agentConformance(
    async () => {
      const server = await modelServer(answer);
      const ran: unknown[] = [];
      const execute = (args: Record<string, unknown>) => {
        ran.push(args);
        return 'sunny';
      };
      const provider = providerOf(
        { url: server.url },
        { tools: async () => [{ ...weather, execute }] },
      );
      return {
        ...{ provider, text: 'hello', tool: 'weather', endless: 'endless', failure: 'fail' },
        toolRuns: () => ran.length,
        toolArgs: () => ran,
        [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
      };
    },
    { timeoutMs: 120_000 },
  );
  for (const { name, run } of checks) it(name, run);
});
