import {
  type AnswerShape,
  type JudgeOptions,
  jsonOf,
  type Loose,
  modelJudge,
  ToolJudge,
} from 'sluice-judge';
import type { Kernel } from 'sluice-kernel';

export type * from 'sluice-judge';

/** The members of a judge, by the names of the AI SDK. */
export interface AiSdkJudge {
  /**
   * Judges the tools of a call of `generateText`, `streamText` or an agent: each runs only if its call is allowed, and the model reads
   * its result as the handlers have left it.
   *
   * @returns the same tools under the same names.
   * @throws TypeError if a tool has no `execute`, and `unjudged` does not name it.
   * @example
   * await generateText({ model, prompt, tools: judged.tools({ shell }) });
   */
  tools<Tools extends Readonly<Record<string, object>>>(tools: Tools): Tools;
  /**
   * Judges the calls of a model and its answers. An answer that is kept back ends the turn with its text, and no call of it runs. If
   * handlers judge answers, a model that is to stream is asked for a whole one.
   *
   * @example
   * wrapLanguageModel({ model, middleware: judged.middleware });
   */
  readonly middleware: {
    readonly specificationVersion: 'v4';
    wrapGenerate<Result extends object>(call: ModelCalled<Result>): Promise<Result>;
    wrapStream<Result extends object>(
      call: ModelCalled<object> & { readonly doStream: () => PromiseLike<Result> },
    ): Promise<Result>;
  };
}

/** A call of a model, as the SDK hands it to a middleware. */
export interface ModelCalled<Result> {
  readonly doGenerate: () => PromiseLike<Result>;
  readonly params: { readonly prompt: object[]; readonly abortSignal?: AbortSignal | undefined };
  readonly model: { readonly provider: string; readonly modelId: string };
}

/** Ends a call that was refused, or whose tool has failed: its message is what the model reads. */
export class JudgedError extends Error {
  override readonly name = 'JudgedError';

  /** The AI SDK shows the model this. */
  override toString(): string {
    return this.message;
  }
}

/** A tool of the AI SDK, as far as the judge reads it. */
interface Executable {
  readonly execute?: (input: unknown, options: ExecuteOptions) => unknown;
  readonly inputSchema?: unknown;
}

interface ExecuteOptions {
  readonly toolCallId: string;
  readonly abortSignal?: AbortSignal;
  readonly context?: unknown;
}

/**
 * Makes the judge of an agent of the AI SDK (version 7). The context of a call is the one of its tool (`toolsContext`).
 *
 * @throws TypeError if an option is wrong.
 * @example
 * const judged = judge(kernel, { given: () => ({ principal, sessionId }) });
 */
export function judge<Context = unknown>(
  kernel: Kernel,
  options: JudgeOptions<Context>,
): AiSdkJudge {
  const judging = new ToolJudge(kernel, options);
  const judgeModel = modelJudge(kernel, options, answers);
  return {
    middleware: {
      specificationVersion: 'v4',
      wrapGenerate: async (call) => (await judgeModel(callOf(call), call.doGenerate)) as never, // an answer of the SDK
      async wrapStream(call) {
        const ask = (isHeld: boolean) => (isHeld ? call.doGenerate() : call.doStream());
        const answer = await judgeModel(callOf(call), ask);
        return ('stream' in answer ? answer : { stream: streamOf(answer) }) as never; // a stream of the SDK
      },
    },
    tools(tools) {
      const entries = Object.entries(tools).map(([name, tool]) => [
        name,
        judged(name, tool, judging),
      ]);
      return Object.fromEntries(entries) as typeof tools; // each has what it had, under its name
    },
  };
}

function callOf({ params, model: { provider, modelId: model } }: ModelCalled<object>) {
  return { provider, model, messages: params.prompt, signal: params.abortSignal };
}

const noUsage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };

const answers: AnswerShape<object> = {
  blocks(answer) {
    const { content, structuredOutputText: text = '' } = Object(answer);
    const isTold = content.some((block: Loose) => String(block['text']).includes(text));
    return isTold ? content : [...content, { type: 'text', text }]; // it is read in place of the other texts
  },
  read({ type, text, toolCallId, toolName, input, providerExecuted }) {
    if (type === 'text') return { type, text };
    if (type === 'reasoning') return { type: 'thinking', text };
    if (type !== 'tool-call' || providerExecuted === true) return undefined;
    return { type: 'call', toolCallId, toolName, params: jsonOf(input) };
  },
  write: ({ type, text, params, ...call }) =>
    type === 'call'
      ? { ...call, type: 'tool-call', input: JSON.stringify(params) }
      : { type, text },
  remade(content, answer) {
    const { usage = noUsage, warnings = [] }: Loose = Object(answer);
    const hasCalls = content.some((block) => Object(block).type === 'tool-call');
    const finishReason = { unified: hasCalls ? 'tool-calls' : 'stop', raw: undefined };
    return { content, finishReason, usage, warnings };
  },
};

/** A whole answer as a stream. */
function streamOf(answer: object): ReadableStream<object> {
  const { content, warnings, finishReason, usage, providerMetadata, response } = Object(answer);
  const { id, timestamp, modelId }: Loose = Object(response);
  const parts = content.flatMap((block: Loose, at: number) => {
    const { type, text: delta, ...more } = block;
    if (delta === undefined) return [block];
    const of = (step: string) => ({ type: `${type}-${step}`, id: String(at) });
    return [
      { ...more, ...of('start') },
      { ...of('delta'), delta },
      { ...more, ...of('end') },
    ];
  });
  const begin = { type: 'stream-start', warnings };
  const about = { type: 'response-metadata', id, timestamp, modelId };
  const finish = { type: 'finish', finishReason, usage, providerMetadata };
  return new ReadableStream({
    start(stream) {
      for (const part of [begin, about, ...parts, finish]) stream.enqueue(part);
      stream.close();
    },
  });
}

function judged(toolName: string, tool: Executable, judging: ToolJudge): Executable {
  const { execute } = tool;
  if (typeof execute !== 'function') {
    judging.leavesOut(toolName, 'has no "execute"');
    return tool;
  }
  if (judging.leavesOut(toolName)) return tool;
  return {
    ...tool,
    async execute(params, options) {
      const { toolCallId, abortSignal: signal, context } = options;
      const answer = await judging.call(
        { toolName, toolCallId, params, context, signal },
        {
          run: async (input) => await lastOf(execute.call(tool, input, options)),
          unfit: (input) => unfit(tool.inputSchema, input),
        },
      );
      if (answer.isError) throw answer.error ?? new JudgedError(answer.text);
      return answer.output;
    },
  };
}

/** The last value of a tool that answers in parts: nobody sees the others, which nobody has judged. */
async function lastOf(output: unknown): Promise<unknown> {
  if (!isParts(output)) return output;
  let last: unknown;
  for await (const part of output) last = part;
  return last;
}

function isParts(output: unknown): output is AsyncIterable<unknown> {
  return typeof Object(output)[Symbol.asyncIterator] === 'function';
}

/** Judges arguments that a handler has changed by the schema of the tool: that of `jsonSchema`, or a Standard Schema. */
async function unfit(schema: unknown, input: unknown): Promise<string | undefined> {
  const made: unknown =
    typeof schema === 'function' && !('~standard' in schema) ? schema() : schema;
  const { '~standard': standard, validate }: SchemaOfTool = Object(made);
  const issues = (await standard?.validate(input))?.issues;
  if (issues !== undefined) return issues.map(({ message }) => message).join('; ');
  const verdict = await validate?.(input);
  return verdict?.success === false ? verdict.error.message : undefined;
}

interface SchemaOfTool {
  readonly '~standard'?: {
    validate(
      value: unknown,
    ): PromiseOr<{ readonly issues?: readonly { readonly message: string }[] }>;
  };
  readonly validate?: (
    value: unknown,
  ) => PromiseOr<{ readonly success: true } | { readonly success: false; readonly error: Error }>;
}

type PromiseOr<T> = T | PromiseLike<T>;
