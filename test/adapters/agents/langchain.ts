import { AIMessage, type BaseMessage, ToolMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { createAgent, tool } from 'langchain';
import { z } from 'zod';
import { judge } from '../../../extensions/langchain/src/index.js';
import type { LabAgent, LabCall, LabResults } from '../lab.js';
import { ignoreAbort } from './ai-sdk.js';

/** The fake model of LangChain's own test kit. `read` gives the results that it has read. */
export function langChainModel(
  answers: readonly (readonly LabCall[])[],
  says: readonly string[] = [],
  thinks: readonly string[] = [],
) {
  const model = fakeModel();
  for (const [at, calls] of answers.entries()) {
    const unread = calls.filter(({ args }) => Array.isArray(args));
    const tool_calls = calls
      .filter((one) => !unread.includes(one))
      .map(({ id, name, args }) => ({ id, name, args: { ...args } }));
    const invalid_tool_calls = unread.map(({ id, name, args }) => {
      return { id, name, args: JSON.stringify(args), type: 'invalid_tool_call' as const };
    });
    const words = says.slice(at, at + 1).map((text) => ({ type: 'text' as const, text }));
    const thoughts = thinks
      .slice(at, at + 1)
      .map((reasoning) => ({ type: 'reasoning' as const, reasoning }));
    model.respond(
      new AIMessage({ content: [...thoughts, ...words], tool_calls, invalid_tool_calls }),
    );
  }
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
  const model = langChainModel(run.answers, run.says, run.thinks);
  const tools = run.tools.map(({ name, parameters, execute }) =>
    tool(async (params: Readonly<Record<string, unknown>>) => execute(params), {
      ...{ name, description: name, schema: parameters },
    }),
  );
  const middleware = isUnjudged === true ? [] : judge(kernel, options).middleware();
  const contextSchema = z.record(z.string(), z.unknown());
  const agent = createAgent({ model, tools, middleware, contextSchema: contextSchema as never });
  const how = { context, recursionLimit: 1_000, ...(signal !== undefined && { signal }) };
  const input = { messages: [{ role: 'user', content: run.prompt ?? 'go' }] };
  let shown = '';
  let messages: readonly BaseMessage[] = [];
  if (isStreamed === true) {
    const both = { ...how, streamMode: ['messages', 'values'] };
    const parts: AsyncIterable<readonly [string, unknown]> = Object(
      await agent.stream(input, both as never),
    );
    for await (const [mode, part] of parts) {
      if (mode === 'values') ({ messages } = Object(part));
      else shown += JSON.stringify(part);
    }
  } else {
    const result: { messages?: BaseMessage[] } = Object(
      await agent.invoke(input, how as never).catch(ignoreAbort(signal)),
    );
    messages = result.messages ?? [];
  }
  const said = messages.flatMap((one) => (AIMessage.isInstance(one) ? one.text : []));
  run.end?.({ said, shown, asked: JSON.stringify(model.calls.map((call) => call.messages)) });
  return model.read();
};
