import { Agent, Runner, tool } from '@openai/agents';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { judge } from '../../../extensions/openai-agents/src/index.js';
import type { LabAgent, LabCall, LabResults } from '../lab.js';
import { ignoreAbort } from './ai-sdk.js';

/** The scripted model of the SDK's own test kit. `read` gives the results that it has read. */
export function openAiAgentsModel(answers: readonly (readonly LabCall[])[]) {
  const steps = answers.map((calls) =>
    calls.map(({ id, name, args }) => functionCall(name, JSON.stringify(args), { callId: id })),
  );
  const model = new ScriptedModel([...steps, [assistantMessage('Done.')]]);
  const read = (): LabResults => {
    const input = model.lastCall?.request.input ?? [];
    const results: Record<string, string> = {};
    for (const item of typeof input === 'string' ? [] : input)
      if (item.type === 'function_call_result') results[item.callId] = textOf(item.output);
    return results;
  };
  return Object.assign(model, { read });
}

export const runner = (model: ScriptedModel) => new Runner({ model, tracingDisabled: true });

/** An agent of the OpenAI Agents SDK. */
export const openAiAgents: LabAgent = async (run) => {
  const { context = {}, isUnjudged, kernel, options, signal, isStreamed } = run;
  const model = openAiAgentsModel(run.answers);
  const plain = run.tools.map(({ name, parameters, execute }) =>
    tool({
      ...{ name, description: name, parameters, errorFunction: wordsOf },
      execute: async (params) => execute(params),
    }),
  );
  const tools = isUnjudged === true ? plain : judge(kernel, options).tools(plain);
  const agent = new Agent({ name: 'it', model, tools });
  const given = { context, maxTurns: 100, ...(signal !== undefined && { signal }) };
  if (isStreamed === true)
    await (await runner(model).run(agent, 'go', { ...given, stream: true })).completed;
  else await runner(model).run(agent, 'go', given).catch(ignoreAbort(signal));
  return model.read();
};

/** The SDK lets a program word a failure: these are the words of a host. */
function wordsOf(_run: unknown, error: unknown): string {
  const { name, message } = Object(error);
  return `the tool ${name === 'Error' ? 'failed' : 'did not run'}: ${message}`;
}

function textOf(output: unknown): string {
  const { text }: { readonly text?: unknown } = Object([output].flat()[0]);
  return typeof text === 'string' ? text : String(output);
}
