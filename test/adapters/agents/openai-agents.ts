import { Agent, type RunItem, RunMessageOutputItem, Runner, tool } from '@openai/agents';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { judge } from '../../../extensions/openai-agents/src/index.js';
import type { LabAgent, LabCall, LabResults } from '../lab.js';
import { ignoreAbort } from './ai-sdk.js';

/** The scripted model of the SDK's own test kit. `read` gives the results that it has read. */
export function openAiAgentsModel(
  answers: readonly (readonly LabCall[])[],
  says: readonly string[] = [],
  thinks: readonly string[] = [],
) {
  const steps = answers.map((calls, at) => [
    ...thinks.slice(at, at + 1).map((text) => ({
      type: 'reasoning' as const,
      content: [{ type: 'input_text' as const, text }],
    })),
    ...says.slice(at, at + 1).map((text) => assistantMessage(text)),
    ...calls.map(({ id, name, args }) => functionCall(name, JSON.stringify(args), { callId: id })),
  ]);
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
  const model = openAiAgentsModel(run.answers, run.says, run.thinks);
  const judged = judge(kernel, options);
  const plain = run.tools.map(({ name, parameters, execute }) =>
    tool({
      ...{ name, description: name, parameters, errorFunction: wordsOf },
      execute: async (params) => execute(params),
    }),
  );
  const agent = new Agent({
    ...{ name: 'it', model: isUnjudged === true ? model : judged.model(model) },
    tools: isUnjudged === true ? plain : judged.tools(plain),
  });
  const { prompt = 'go' } = run;
  const given = { context, maxTurns: 100, ...(signal !== undefined && { signal }) };
  let shown = '';
  let items: readonly RunItem[] = [];
  if (isStreamed === true) {
    const result = await runner(model).run(agent, prompt, { ...given, stream: true });
    for await (const event of result) shown += JSON.stringify(event);
    await result.completed;
    items = result.newItems;
  } else
    items =
      (await runner(model).run(agent, prompt, given).catch(ignoreAbort(signal)))?.newItems ?? [];
  const said = items.flatMap((item) => (item instanceof RunMessageOutputItem ? item.content : []));
  run.end?.({ said, shown, asked: JSON.stringify(model.calls) });
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
