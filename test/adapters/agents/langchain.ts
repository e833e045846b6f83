import { AIMessage, ToolMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { createAgent, tool } from 'langchain';
import { z } from 'zod';
import { judge } from '../../../extensions/langchain/src/index.js';
import type { LabAgent, LabCall, LabResults } from '../lab.js';
import { ignoreAbort } from './ai-sdk.js';

/** The fake model of LangChain's own test kit. `read` gives the results that it has read. */
export function langChainModel(answers: readonly (readonly LabCall[])[]) {
  const model = fakeModel();
  for (const calls of answers)
    model.respondWithTools(calls.map(({ id, name, args }) => ({ id, name, args: { ...args } })));
  model.respond(new AIMessage('Done.'));
  const read = (): LabResults => {
    const results: Record<string, string> = {};
    for (const message of model.calls.at(-1)?.messages ?? [])
      if (ToolMessage.isInstance(message)) results[message.tool_call_id] = String(message.content);
    return results;
  };
  return Object.assign(model, { read });
}

/** An agent of LangChain. */
export const langChain: LabAgent = async (run) => {
  const { context = {}, isUnjudged, kernel, options, signal, isStreamed } = run;
  const model = langChainModel(run.answers);
  const tools = run.tools.map(({ name, parameters, execute }) =>
    tool(async (params: Readonly<Record<string, unknown>>) => execute(params), {
      ...{ name, description: name, schema: parameters },
    }),
  );
  const middleware = isUnjudged === true ? [] : judge(kernel, options).middleware();
  const contextSchema = z.record(z.string(), z.unknown());
  const agent = createAgent({ model, tools, middleware, contextSchema: contextSchema as never });
  const how = { context, recursionLimit: 1_000, ...(signal !== undefined && { signal }) };
  const input = { messages: [{ role: 'user', content: 'go' }] };
  if (isStreamed === true) for await (const _ of await agent.stream(input, how as never)) void _;
  else await agent.invoke(input, how as never).catch(ignoreAbort(signal));
  return model.read();
};
