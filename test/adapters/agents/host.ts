import { agentsOf, config } from '../../../extensions/openai/src/config.js';
import { openAiProvider } from '../../../extensions/openai/src/openai-agent.js';
import { modelServer, part, parts, says } from '../../../extensions/openai/test/model-server.js';
import { runAgentTurn } from '../../../src/agent/index.js';
import type { Approvals } from '../../../src/agent/run/index.js';
import type { LabAgent, LabCall, LabRun } from '../lab.js';

/** An agent of a host: the provider `openai`, whose fake model is a server on loopback. It is what the adapters are compared with. */
export const host: LabAgent = async (run) => {
  const { kernel, options, tools, answers, signal, prompt = 'go' } = run;
  const answersOf = answers.map((calls, at) => answerOf(calls, run.says?.[at], run.thinks?.[at]));
  await using server = await modelServer(...answersOf, says('Done.'));
  const settings = {
    id: 'it',
    model: 'm',
    url: server.url,
    maxRounds: 100,
    contextTokens: 1_000_000,
  };
  const [agent] = agentsOf(config.parse({ agents: [settings] }));
  if (agent === undefined) throw new Error('there is no agent');
  const {
    sessionId = 's',
    sessionKey = 'k',
    ...refs
  } = await options.given({
    ...{ toolName: '', params: {}, context: {} },
  });
  const { error, assistantTexts } = await runAgentTurn({
    ...{ kernel, provider: openAiProvider(agent), message: { text: prompt }, runId: 'r', refs },
    session: { agentId: 'main', sessionKey, sessionId, history: [], append: () => undefined },
    approvals: approvalsOf(options),
    tools: () =>
      tools.map(({ name, parameters, execute }) => ({
        ...{ name, description: name, inputSchema: parameters.toJSONSchema() },
        execute: async (params: object) => execute({ ...params }),
      })),
    ...(signal !== undefined && { signal }),
  });
  const said = [...assistantTexts];
  const { cancel } = error ?? {};
  if (error !== undefined && !said.at(-1)?.startsWith('[withheld'))
    said.push(`[withheld: ${cancel?.code ?? 'a handler that guards answers failed'}]`); // it was not called
  if (cancel?.reply !== undefined) said.splice(-1, 1, cancel.reply);
  run.end?.({ said, shown: '', asked: JSON.stringify(server.asked.map(({ body }) => body)) });
  const messages = server.asked.at(-1)?.body.messages ?? [];
  return Object.fromEntries(
    messages.flatMap((one) =>
      one.role === 'tool' ? [[one.tool_call_id, String(one.content)]] : [],
    ),
  );
};

const answerOf = (calls: readonly LabCall[], content?: string, reasoning_content?: string) =>
  parts(
    ...(reasoning_content === undefined ? [] : [{ reasoning_content }]),
    ...(content === undefined ? [] : [{ content }]),
    ...calls.map(({ id, name, args }, index) => ({
      tool_calls: [
        { index, id, type: 'function', function: { name, arguments: JSON.stringify(args) } },
      ],
    })),
    part({}, calls.length > 0 ? 'tool_calls' : 'stop'),
  );

/** The port of a host that asks as the adapters do. A question that may wait for a second at most expires at once. */
function approvalsOf({ onAsk }: LabRun['options']): Approvals {
  return {
    async ask({ question, signal }) {
      const call = { toolName: '', params: {}, context: {} };
      const answered = Promise.resolve(onAsk?.(question, { call, signal }));
      const expired = new Promise<'expired'>((resolve) => {
        if ((question.timeoutMs ?? Number.POSITIVE_INFINITY) <= 1_000)
          setImmediate(() => resolve('expired'));
      });
      const reply = await Promise.race([answered, expired]);
      if (reply === 'expired') return { status: 'expired' };
      const { allowed, reason } = typeof reply === 'object' ? reply : { allowed: reply === true };
      if (allowed) return { status: 'allowed', use: async () => true };
      return { status: 'denied', ...(reason !== undefined && { reason }) };
    },
  };
}
