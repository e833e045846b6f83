import {
  type Answer,
  type AnswerShape,
  type JudgeOptions,
  type Loose,
  modelJudge,
  ToolJudge,
} from 'sluice-judge';
import type { Kernel } from 'sluice-kernel';

export type * from 'sluice-judge';

/** The members of a judge, by the names of LangChain. */
export interface LangChainJudge {
  /**
   * Puts the judge behind the other middleware of an agent, which makes it the innermost: no other can change a call after it, and
   * none reads a result before it.
   *
   * @param others all the other middleware of the agent, in their order.
   * @returns the list for `createAgent`.
   * @throws TypeError naming the middleware that stands inside of this judge in a list that has it already.
   * @example
   * createAgent({ model, tools, middleware: judged.middleware([limits]) });
   */
  middleware<Other extends OtherMiddleware = never>(
    others?: readonly (Other | JudgeMiddleware)[],
  ): (Other | JudgeMiddleware)[];
}

interface OtherMiddleware {
  readonly name: string;
  readonly wrapToolCall?: unknown;
  readonly wrapModelCall?: unknown;
}

/** The middleware of a judge. */
export interface JudgeMiddleware {
  readonly name: string;
  wrapToolCall<Asked extends Request, Result>(
    request: Asked,
    handler: (request: Asked) => Result | Promise<Result>,
  ): Promise<Result>;
  wrapModelCall<Asked extends ModelRequest, Result>(
    request: Asked,
    handler: (request: Asked) => Result | Promise<Result>,
  ): Promise<Result>;
}

/** The request of a call of a model, as LangChain hands it to a middleware. */
interface ModelRequest {
  readonly model: object;
  readonly runtime: { readonly context?: unknown };
}

/** A model of LangChain, as far as the judge reads it. */
interface ChatModel {
  /** Of a model that a configuration is bound to. */
  readonly bound?: ChatModel;
  readonly bindTools?: (...given: never[]) => object;
  readonly model?: unknown;
}

type Invoke = (messages: readonly object[], config?: InvokeConfig) => Promise<object>;

/** The request of a call, as LangChain hands it to a middleware. */
interface Request {
  readonly toolCall: { readonly name: string };
  readonly tool: unknown;
  readonly runtime: { readonly context?: unknown };
}

/** A call as LangChain hands it to a tool. */
interface InvokedCall {
  readonly id?: string;
  readonly args: unknown;
}

interface InvokeConfig {
  readonly tags?: readonly string[];
  readonly signal?: AbortSignal;
}

interface InvokableTool {
  invoke(call: InvokedCall, config: InvokeConfig): Promise<unknown>;
}

/** A message of LangChain with the result of a tool, or a Command. */
interface Output {
  readonly content?: unknown;
  readonly tool_call_id?: string;
  readonly name?: string;
  status?: string;
  /** Of a Command. */
  readonly update?: unknown;
  readonly constructor: new (fields: object) => object;
}

/**
 * Makes the judge of agents of LangChain (version 1). The context of a call is the one of the run (`context` of `invoke`).
 *
 * A call is judged at the tool itself, with the arguments that it has there. A question may be an interrupt: `onAsk` that calls
 * `interrupt` suspends the run, and the call is judged again when it is resumed.
 *
 * @throws TypeError if an option is wrong.
 * @example
 * const judged = judge(kernel, { given: ({ context }: JudgedCall<MyContext>) => ({ principal: context?.user }) });
 */
export function judge<Context = unknown>(
  kernel: Kernel,
  options: JudgeOptions<Context>,
): LangChainJudge {
  const judging = new ToolJudge(kernel, options, { suspends });
  const judgeModel = modelJudge(kernel, options, answers);
  const own: JudgeMiddleware = {
    name: 'sluice',
    async wrapToolCall(request, handler) {
      const name = nameOf(request);
      if (judging.leavesOut(name)) return await handler(request);
      let answer: Answer | undefined;
      const tool = guarded(request, judging, (one) => {
        answer = one;
      });
      const result = await handler({ ...request, tool });
      if (answer === undefined)
        throw new Error(
          `a middleware inside of the judge has answered the call of "${name}" itself`,
        );
      const message: Partial<Output> = Object(result);
      if (answer.isError && message.tool_call_id !== undefined) message.status = 'error';
      return result;
    },
    async wrapModelCall(request, handler) {
      const { model, runtime } = request;
      const named: ChatModel = model;
      const call = { provider: '', model: String(named.model ?? ''), context: runtime.context };
      let isJudged = false;
      const asked = judgedModel(model, (invoke) => (messages, config = {}) => {
        isJudged = true;
        const tags = [...(config.tags ?? []), 'nostream']; // LangGraph shows nothing of it
        return judgeModel({ ...call, messages, signal: config.signal }, (isHeld) =>
          invoke(messages, isHeld ? { ...config, tags } : config),
        );
      });
      const result = await handler({ ...request, model: asked });
      if (!isJudged && (kernel.has('agent.llm.returning') || kernel.has('agent.llm.calling')))
        throw new Error(
          'the model was not asked through the judge: a middleware inside of it has answered, or the model is a sequence',
        );
      return result;
    },
  };
  return {
    middleware<Other extends OtherMiddleware>(others: readonly (Other | JudgeMiddleware)[] = []) {
      const at = others.findIndex(({ wrapToolCall }) => wrapToolCall === own.wrapToolCall);
      if (at < 0) return [...others, own];
      const inside = others
        .slice(at + 1)
        .filter((one) => (one.wrapToolCall ?? one.wrapModelCall) !== undefined);
      if (inside.length === 0) return [...others];
      const names = inside.map(({ name }) => `"${name}"`).join(', ');
      throw new TypeError(`inside of the judge stands ${names}, which can change a judged call`);
    },
  };
}

/** An interrupt, or another signal of LangGraph that leaves a tool as an error. */
function suspends(error: unknown): boolean {
  return Object(error).is_bubble_up === true;
}

/** The tool of a request with the judge in it: LangChain finds all else as it was. */
function guarded(
  request: Request,
  judging: ToolJudge,
  told: (answer: Answer) => void,
): InvokableTool {
  const toolName = nameOf(request);
  const { tool, runtime } = request;
  const { context } = runtime;
  const invoke: InvokableTool['invoke'] = async (call, config) => {
    let output: unknown;
    const { id: toolCallId, args: params } = call;
    const incoming = { toolName, params, context, signal: config.signal };
    const answer = await judging.call(
      { ...incoming, ...(toolCallId !== undefined && { toolCallId }) },
      {
        async run(args) {
          if (!isInvokable(tool)) throw new Error(`there is no tool "${toolName}"`);
          output = await tool.invoke({ ...call, args }, config);
          return shownOf(output);
        },
      },
    );
    told(answer);
    if (answer.isError) return answer.text;
    return answer.output === shownOf(output) ? output : changed(output, answer.output);
  };
  return Object.create(Object(tool), {
    name: { value: toolName },
    invoke: { value: invoke },
  });
}

/** The name of the tool that runs: a middleware may have put another one in the place of the called one. */
function nameOf({ toolCall, tool }: Request): string {
  const { name = toolCall.name }: { readonly name?: string } = Object(tool);
  return name;
}

function isInvokable(tool: unknown): tool is InvokableTool {
  return typeof Object(tool).invoke === 'function';
}

/** The part of an output that the model reads: the content of a message, or all that a Command brings. */
function shownOf(output: unknown): unknown {
  const { content, tool_call_id: id, update }: Partial<Output> = Object(output);
  return id === undefined ? (update ?? output) : content;
}

/** A message with a content that handlers have changed, and nothing else of it; of another output, that content. */
function changed(output: unknown, content: unknown): unknown {
  const { tool_call_id, name, status, constructor: Message }: Output = Object(output);
  return tool_call_id === undefined
    ? content
    : new Message({ content, tool_call_id, name, status });
}

/** A model whose answers are judged before LangChain itself reads them. */
function judgedModel(model: ChatModel, judged: (invoke: Invoke) => Invoke): object {
  const { bound } = model;
  const bindTools = (...given: never[]): object => {
    const asked: { readonly invoke: Invoke } = Object(model.bindTools?.(...given));
    const invoke = judged((messages, config) => asked.invoke(messages, config));
    return Object.create(asked, { invoke: { value: invoke }, bound: { value: undefined } });
  };
  return Object.create(model, {
    ...(bound !== undefined && { bound: { value: judgedModel(bound, judged) } }),
    bindTools: { value: bindTools },
  });
}

/** The type of a thought that is no block of the content: a provider would not know it there. */
const beside = 'beside';
const besideOf = (thought: object) => ({ ...thought, type: beside });

const answers: AnswerShape<object> = {
  blocks(message) {
    const { content, contentBlocks = [], additional_kwargs = {} } = Object(message);
    const { tool_calls = [], invalid_tool_calls = [] } = Object(message);
    const unread = invalid_tool_calls.map((one: object) => ({ ...one, args: null }));
    const calls = [...tool_calls, ...unread].map((one) => ({ ...one, type: 'tool_call' }));
    const said = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    const isThought = (block: Loose) => answers.read(block)?.type === 'thinking';
    // what LangChain reads from beside the content
    const thoughts = said.some(isThought) ? [] : contentBlocks.filter(isThought);
    const { refusal } = additional_kwargs;
    const refused = typeof refusal === 'string' ? [{ type: 'text', text: refusal }] : [];
    return [...thoughts.map(besideOf), ...said, ...refused, ...calls];
  },
  read(block) {
    const { type, text, id: toolCallId, name: toolName, args: params } = block;
    const thought = block['thinking'] ?? block['reasoning'];
    if (type === 'tool_call') return { type: 'call', toolCallId, toolName, params };
    if (type === 'text') return { type, text };
    return thought === undefined ? undefined : { type: 'thinking', text: thought };
  },
  write({ type, text, params: args, toolCallId: id, toolName: name }) {
    return type === 'call' ? { type: 'tool_call', id, name, args } : { type: 'text', text };
  },
  async remade(blocks, answer) {
    const { AIMessage } = await import('langchain');
    const { id, usage_metadata }: Loose = Object(answer);
    const isCall = (block: object) => Object(block).type === 'tool_call';
    const content = blocks.filter((block) => !isCall(block) && Object(block).type !== beside);
    const tool_calls = blocks.filter((block) => isCall(block) && Object(block).args !== null);
    return new AIMessage({ content, tool_calls, id, usage_metadata } as never); // as the blocks were written
  },
};
