import { generateText, isStepCount, streamText, type ToolSet, tool } from 'ai';
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';
import { judge } from '../../../extensions/ai-sdk/src/index.js';
import type { LabAgent, LabCall, LabResults } from '../lab.js';

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};
type Streamed = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'];
type StreamPart = Streamed extends ReadableStream<infer One> ? One : never;
type Part = { type: 'text'; text: string } | ReturnType<typeof callOf>;

const callOf = ({ id, name, args }: LabCall) => ({
  type: 'tool-call' as const,
  ...{ toolCallId: id, toolName: name, input: JSON.stringify(args) },
});

/** The fake model of the AI SDK's own test kit, with its answers in order. `read` gives the results that it has read. */
export function aiSdkModel(answers: readonly (readonly LabCall[])[]) {
  let at = 0;
  const next = () => {
    const calls = answers[at++] ?? [];
    const content: Part[] =
      calls.length > 0 ? calls.map(callOf) : [{ type: 'text', text: 'Done.' }];
    const unified = calls.length > 0 ? ('tool-calls' as const) : ('stop' as const);
    return { content, finishReason: { unified, raw: unified } };
  };
  const model = new MockLanguageModelV4({
    doGenerate: async () => ({ ...next(), usage, warnings: [] }),
    doStream: async () => {
      const { content, finishReason } = next();
      const chunks: StreamPart[] = [{ type: 'stream-start', warnings: [] }];
      for (const part of content)
        if (part.type === 'tool-call') chunks.push(part);
        else
          chunks.push(
            { type: 'text-start', id: 't' },
            { type: 'text-delta', id: 't', delta: part.text },
            { type: 'text-end', id: 't' },
          );
      chunks.push({ type: 'finish', usage, finishReason });
      return { stream: convertArrayToReadableStream(chunks) };
    },
  });
  const read = (): LabResults => {
    const asked = [...model.doGenerateCalls, ...model.doStreamCalls].at(-1)?.prompt ?? [];
    const results: Record<string, string> = {};
    for (const message of asked)
      for (const part of message.role === 'tool' ? message.content : [])
        if (part.type === 'tool-result') results[part.toolCallId] = textOf(part.output);
    return results;
  };
  return Object.assign(model, { read });
}

/** An agent of the AI SDK. */
export const aiSdk: LabAgent = async (run) => {
  const { context = {}, isUnjudged, kernel, options, signal, isStreamed } = run;
  const model = aiSdkModel(run.answers);
  const plain: ToolSet = Object.fromEntries(
    run.tools.map(({ name, parameters, execute }) => [
      name,
      tool({
        inputSchema: parameters,
        contextSchema: z.record(z.string(), z.unknown()),
        execute: async (params) => execute(params),
      }),
    ]),
  );
  const given = {
    ...{ model, prompt: 'go', stopWhen: isStepCount(100), maxRetries: 0 },
    tools: isUnjudged === true ? plain : judge(kernel, options).tools(plain),
    // the set is made from data, so its type knows no contexts
    toolsContext: Object.fromEntries(run.tools.map(({ name }) => [name, context])) as never,
    ...(signal !== undefined && { abortSignal: signal }),
  };
  if (isStreamed === true) await streamText({ ...given, onError: () => undefined }).consumeStream();
  else await generateText(given).catch(ignoreAbort(signal));
  return model.read();
};

function textOf(output: object): string {
  const { value } = output as { readonly value?: unknown }; // of each kind that the tests make
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** An aborted run rejects, and the tests look at what the model has read until then. */
export const ignoreAbort = (signal: AbortSignal | undefined) => (error: unknown) => {
  if (signal?.aborted !== true) throw error;
};
