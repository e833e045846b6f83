import {
  type AnswerShape,
  givenText,
  type JudgeOptions,
  jsonOf,
  modelJudge,
  said,
  ToolJudge,
  textOf,
  wordsOf,
} from 'sluice-judge';
import type { Kernel } from 'sluice-kernel';

export type * from 'sluice-judge';

/** The members of a judge, by the names of the OpenAI Agents SDK. */
export interface OpenAiAgentsJudge {
  /**
   * Judges the tools of an agent: each runs only if its call is allowed, and the model reads its result as the handlers have left it.
   *
   * @returns the same tools in the same order.
   * @throws TypeError if a tool is no function tool, and `unjudged` does not name it.
   * @example
   * new Agent({ name: 'ada', tools: judged.tools([shell]) });
   */
  tools<Tool extends AnyTool>(tools: readonly Tool[]): Tool[];
  /**
   * Judges the calls of a model and its answers. An answer that is kept back ends the turn with its text, and no call of it runs. If
   * handlers judge answers, a model that is to stream is asked for a whole one.
   *
   * @example
   * new Agent({ name: 'ada', model: judged.model(model) });
   */
  model<Model extends JudgeableModel>(
    model: Model,
  ): Pick<Model, keyof Model & keyof JudgeableModel>;
  /** Judges the calls of an MCP server, whose tools are made inside of the agent. A call whose arguments a handler changes is refused. */
  readonly toolInputGuardrails: ToolGuardrail<'tool_input', GuardedCall>[];
  /** Judges the results of an MCP server. */
  readonly toolOutputGuardrails: ToolGuardrail<
    'tool_output',
    GuardedCall & { readonly output: unknown }
  >[];
}

/** A tool of the SDK, as far as the judge reads it. */
interface AnyTool {
  readonly type: string;
  readonly name?: string;
}

interface FunctionTool extends AnyTool {
  readonly name: string;
  readonly invoke: (run: Run, input: string, details?: Details) => Promise<unknown>;
}

interface Run {
  readonly context: unknown;
}

interface Details {
  readonly toolCall?: { readonly callId?: string };
  readonly signal?: AbortSignal;
}

/** A model of the SDK, as far as the judge reads it. */
export interface JudgeableModel {
  getResponse(request: ModelRequest): Promise<ModelResponse>;
  getStreamedResponse(request: ModelRequest): AsyncIterable<object>;
  getRetryAdvice?(args: never): unknown;
  readonly supportsPromptModelSelection?: boolean;
}

interface ModelRequest {
  readonly systemInstructions?: string;
  readonly input: string | object[];
  readonly signal?: AbortSignal;
}

interface ModelResponse {
  readonly responseId?: string;
  readonly usage?: object;
  readonly output: readonly object[];
}

type ModelJudge = ReturnType<typeof modelJudge<ModelResponse>>;

/** A call, as a guardrail of the SDK gets it. */
export interface GuardedCall {
  readonly context: Run;
  readonly toolCall: { readonly name: string; readonly callId: string; readonly arguments: string };
}

/** A guardrail of the SDK: `defineToolInputGuardrail` and `defineToolOutputGuardrail` make one of the same shape. */
export interface ToolGuardrail<Type extends string, Data> {
  readonly type: Type;
  readonly name: string;
  run(data: Data): Promise<{
    behavior: { type: 'allow' } | { type: 'rejectContent'; message: string };
  }>;
}

/**
 * Makes the judge of agents of the OpenAI Agents SDK. The context of a call is the one that `run` was given.
 *
 * @throws TypeError if an option is wrong.
 * @example
 * const judged = judge(kernel, { given: ({ context }: JudgedCall<MyContext>) => ({ principal: context?.user }) });
 */
export function judge<Context = unknown>(
  kernel: Kernel,
  options: JudgeOptions<Context>,
): OpenAiAgentsJudge {
  const judging = new ToolJudge(kernel, options);
  const judgeModel = modelJudge(kernel, options, answers);
  const allow = { behavior: { type: 'allow' } } as const;
  const reject = (message: string) => ({ behavior: { type: 'rejectContent', message } }) as const;
  return {
    model: (model) => judgedModel(model, judgeModel) as never, // it has the members of the model
    tools: (tools) =>
      tools.map((tool) => {
        const { name = tool.type } = tool;
        if (isFunctionTool(tool)) return judging.leavesOut(name) ? tool : judged(tool, judging);
        judging.leavesOut(name, 'is no function tool');
        return tool;
      }),
    toolInputGuardrails: [
      {
        ...{ type: 'tool_input', name: 'sluice' },
        async run(data) {
          const verdict = await judging.calling(callOf(data));
          if (!verdict.allowed) return reject(verdict.reason);
          return verdict.isChanged ? reject(unchangeable) : allow;
        },
      },
    ],
    toolOutputGuardrails: [
      {
        ...{ type: 'tool_output', name: 'sluice' },
        async run(data) {
          const text = textOf(data.output);
          const after = givenText(await judging.returning(callOf(data), said(text, false)));
          return after === text ? allow : reject(after);
        },
      },
    ],
  };
}

const unchangeable =
  'the call is refused: a handler has changed its arguments, and a guardrail cannot hand them on';

function isFunctionTool(tool: AnyTool): tool is FunctionTool {
  return tool.type === 'function' && 'invoke' in tool && typeof tool.invoke === 'function';
}

/** Copies a tool with all that it has: the SDK keeps some of it out of sight. */
function judged<Tool extends FunctionTool>(tool: Tool, judging: ToolJudge): Tool {
  const invoke: FunctionTool['invoke'] = async (run, input, details) => {
    const { toolCall, signal } = details ?? {};
    const answer = await judging.call(
      {
        ...{ toolName: tool.name, params: jsonOf(input), context: run.context, signal },
        ...(toolCall?.callId !== undefined && { toolCallId: toolCall.callId }),
      },
      { run: (params) => tool.invoke(run, JSON.stringify(params), details) },
    );
    if (!answer.isError) return answer.output;
    if (answer.isFailure) throw answer.error ?? new Error(answer.text); // as the program wants it: it has no `errorFunction`
    return answer.text;
  };
  const copy = Object.create(Object.getPrototypeOf(tool), Object.getOwnPropertyDescriptors(tool));
  return Object.defineProperty(copy, 'invoke', { value: invoke, enumerable: true, writable: true });
}

/** A model of its own: those of the SDK have private fields, so none can be copied. */
function judgedModel(model: JudgeableModel, judge: ModelJudge): JudgeableModel {
  const { supportsPromptModelSelection = false } = model;
  return {
    supportsPromptModelSelection,
    getRetryAdvice: (args) => model.getRetryAdvice?.(args),
    getResponse: (request) => judge(requested(request), () => model.getResponse(request)),
    async *getStreamedResponse(request) {
      let stream: AsyncIterable<object> | undefined;
      const answer = await judge(requested(request), async (isHeld) => {
        if (isHeld) return await model.getResponse(request);
        stream = model.getStreamedResponse(request);
        return { output: [] };
      });
      if (stream !== undefined) return yield* stream;
      const { responseId: id = '', ...response } = answer;
      for (const { type, text: delta } of answer.output.map((item) => ({ ...read(Object(item)) })))
        if (type === 'text') yield { type: 'output_text_delta', delta };
      yield { type: 'response_done', response: { ...response, id } };
    },
  };
}

function requested({ input, systemInstructions: systemPrompt, signal }: ModelRequest) {
  const messages = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  return { provider: '', model: '', messages, systemPrompt, signal };
}

const noUsage = { requests: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0 };

const read: AnswerShape<ModelResponse>['read'] = (item) => {
  const { type, callId: toolCallId, name: toolName, arguments: input, content, rawContent } = item;
  if (type === 'function_call')
    return { type: 'call', toolCallId, toolName, params: jsonOf(input) };
  if (type === 'message') return { type: 'text', text: wordsOf(item) };
  const thought = wordsOf({ content: [content, rawContent].flat() });
  return type === 'reasoning' ? { type: 'thinking', text: thought } : undefined;
};

const answers: AnswerShape<ModelResponse> = {
  blocks: ({ output }) => output,
  read,
  write({ type, text, params, toolCallId: callId, toolName: name }) {
    if (type === 'call')
      return { type: 'function_call', callId, name, arguments: JSON.stringify(params) };
    const content = [{ type: 'output_text', text }];
    return { type: 'message', role: 'assistant', status: 'completed', content };
  },
  remade: (output, { usage = noUsage } = { output }) => ({ usage, output }),
};

function callOf({ context, toolCall }: GuardedCall) {
  const { name: toolName, callId: toolCallId, arguments: input } = toolCall;
  return { toolName, toolCallId, params: jsonOf(input), context: context.context };
}
