import { generateText, isStepCount, streamText, type ToolSet, tool, wrapLanguageModel } from 'ai';
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
type Part = { type: 'text' | 'reasoning'; text: string } | ReturnType<typeof callOf>;

const callOf = ({ id, name, args }: LabCall) => ({
  type: 'tool-call' as const,
  ...{ toolCallId: id, toolName: name, input: JSON.stringify(args) },
});

/** The fake model of the AI SDK's own test kit, with its answers in order. `read` gives the results that it has read. */
export function aiSdkModel(
  answers: readonly (readonly LabCall[])[],
  says: readonly string[] = [],
  thinks: readonly string[] = [],
) {
  let at = 0;
  const next = () => {
    const calls = answers[at] ?? [];
    const thoughts: Part[] = thinks.slice(at, at + 1).map((text) => ({ type: 'reasoning', text }));
    const words = at < answers.length ? says.slice(at, at + 1) : ['Done.'];
    at++;
    const texts: Part[] = words.map((text) => ({ type: 'text', text }));
    const content = [...thoughts, ...texts, ...calls.map(callOf)];
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
            { type: `${part.type}-start`, id: part.type },
            { type: `${part.type}-delta`, id: part.type, delta: part.text },
            { type: `${part.type}-end`, id: part.type },
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
  const model = aiSdkModel(run.answers, run.says, run.thinks);
  const judged = judge(kernel, options);
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
    ...{ prompt: run.prompt ?? 'go', stopWhen: isStepCount(100), maxRetries: 0 },
    model:
      isUnjudged === true ? model : wrapLanguageModel({ model, middleware: judged.middleware }),
    tools: isUnjudged === true ? plain : judged.tools(plain),
    // the set is made from data, so its type knows no contexts
    toolsContext: Object.fromEntries(run.tools.map(({ name }) => [name, context])) as never,
    ...(signal !== undefined && { abortSignal: signal }),
  };
  let shown = '';
  let steps: readonly { readonly text: string }[] = [];
  if (isStreamed === true) {
    const result = streamText({ ...given, onError: () => undefined });
    for await (const part of result.fullStream) shown += 'text' in part ? part.text : '';
    if (signal === undefined) steps = await result.steps;
  } else steps = (await generateText(given).catch(ignoreAbort(signal)))?.steps ?? [];
  const asked = JSON.stringify([model.doGenerateCalls, model.doStreamCalls]);
  run.end?.({ said: steps.map(({ text }) => text), shown, asked });
  return model.read();
};

function textOf(output: object): string {
  const { value } = output as { readonly value?: unknown }; // of each kind that the tests make
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** An aborted run rejects, and the tests look at what the model has read until then. */
export const ignoreAbort = (signal: AbortSignal | undefined) => (error: unknown) => {
  if (signal?.aborted !== true) throw error;
  return undefined;
};
