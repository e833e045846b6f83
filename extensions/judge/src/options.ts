import {
  type ApprovalQuestion,
  type Clock,
  type Given,
  type Kernel,
  type PayloadOf,
  systemClock,
} from 'sluice-kernel';

/** A call of a tool, as the model has made it. */
export interface ToolCall<Context = unknown> {
  readonly toolName: string;
  /** The id of the call, if the framework has one. */
  readonly toolCallId?: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The program's own context, which the framework hands to a tool; often none. */
  readonly context: Context;
}

/** A call of a model, as the program's own context and the model name it. */
export interface ModelCall<Context = unknown> {
  /** None: it is no call of a tool. */
  readonly toolName?: undefined;
  /** As the framework names it; often an empty text. */
  readonly provider: string;
  /** As the framework names it; often an empty text. */
  readonly model: string;
  /** Absent if the framework hands no model a context. */
  readonly context?: Context | undefined;
}

/** A call that is judged. */
export type JudgedCall<Context = unknown> = ToolCall<Context> | ModelCall<Context>;

const runFields = [
  ...(['agentId', 'sessionId', 'sessionKey', 'runId'] as const),
  ...(['workspaceDir', 'channel', 'messageProvider', 'trigger'] as const),
] as const;
const envelopeFields = [
  ...(['principal', 'workspaceId', 'agentId', 'sessionId', 'correlationId', 'metadata'] as const),
  ...(['accountRef', 'conversationRef', 'threadRef', 'messageRef', 'after'] as const),
] as const;

/**
 * The facts that a program knows of a call, beside the call itself: on whose behalf it happens, the session, and the refs. Nothing of it comes from a
 * model.
 */
export interface CallFacts
  extends Pick<Given, (typeof envelopeFields)[number]>,
    Pick<
      PayloadOf<'agent.tool.calling'>,
      Exclude<(typeof runFields)[number], 'agentId' | 'sessionId'>
    > {
  readonly agentId?: string;
  readonly sessionId?: string;
}

/** An answer to a question, in words. */
export interface AskReply {
  readonly allowed: boolean;
  /** The words of the one who has denied it; the model reads them. */
  readonly reason?: string;
  /** The one who has allowed it, in words for people; the outcome of the answered pass holds it. */
  readonly how?: string;
}

/** The call that a question is about. */
export interface AskedAbout<Context = unknown> {
  /** The call with the arguments that it would run with. */
  readonly call: ToolCall<Context>;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** The options of each adapter. `Context` is the program's own: it says what the framework hands on. */
export interface JudgeOptions<Context = unknown> {
  /** Says what the program knows of a call. If it throws or rejects, the call is refused. */
  readonly given: (call: JudgedCall<Context>) => CallFacts | Promise<CallFacts>;
  /**
   * Asks a human, who must be one of `question.of`. Only `true` and `allowed: true` allow. If it throws, or if its time is over, the
   * call is refused. Without it, each question is a refusal.
   */
  readonly onAsk?: (
    question: ApprovalQuestion,
    about: AskedAbout<Context>,
  ) => boolean | AskReply | Promise<boolean | AskReply>;
  /** Stops what is being judged: the calls are then refused, and the results withheld. */
  readonly signal?: AbortSignal;
  /** Tools that are left alone. One that runs elsewhere, such as at the provider or in a browser, must be named: no judge can stop it. */
  readonly unjudged?: readonly string[];
  /** The time, for questions that expire. */
  readonly clock?: Clock;
}

/** A kernel, or the part of one that an extension has as `api.kernel`. */
export type JudgingKernel = Pick<Kernel, 'dispatch' | 'has'>;

/** The options of a judge, checked. */
export interface CheckedOptions extends JudgeOptions {
  readonly clock: Clock;
}

const optionNames = ['given', 'onAsk', 'signal', 'unjudged', 'clock'];

/**
 * Checks what a program has given, also in JavaScript.
 *
 * @throws TypeError naming the field.
 */
export function checkOptions(kernel: JudgingKernel, options: JudgeOptions<never>): CheckedOptions {
  const given: { readonly [Key in keyof JudgeOptions]?: unknown } = Object(options);
  const refuse = (problem: string): never => {
    throw new TypeError(`judge(kernel, options): ${problem}`);
  };
  if (typeof Object(kernel).dispatch !== 'function') refuse('"kernel" must be a kernel');
  for (const name of Object.keys(given))
    if (!optionNames.includes(name)) refuse(`there is no option "${name}"`);
  if (typeof given.given !== 'function') refuse('"given" must be a function');
  if (given.onAsk !== undefined && typeof given.onAsk !== 'function')
    refuse('"onAsk" must be a function');
  if (given.signal !== undefined && !(given.signal instanceof AbortSignal))
    refuse('"signal" must be an AbortSignal');
  if (given.unjudged !== undefined && !Array.isArray(given.unjudged))
    refuse('"unjudged" must be a list of names');
  return { clock: systemClock, ...(options as JudgeOptions) }; // the program says what its context is
}

/**
 * Splits the facts of a call: the fields of its payload, and those of its envelope.
 *
 * @throws TypeError naming a field that there is not: a misspelt principal would be none.
 */
export function splitFacts(facts: CallFacts): { readonly run: object; readonly envelope: Given } {
  const entries = Object.entries(Object(facts) as CallFacts);
  const of = (names: readonly string[]) =>
    Object.fromEntries(
      entries.filter(([name, value]) => names.includes(name) && value !== undefined),
    );
  for (const [name] of entries)
    if (![...runFields, ...envelopeFields].some((known) => known === name))
      throw new TypeError(`"given" has told of a field "${name}", which there is not`);
  return { run: of(runFields), envelope: of(envelopeFields) };
}
