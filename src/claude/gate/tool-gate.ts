import type { ToolCall, ToolGate } from '@sluice/sdk/stream';
import { definedFields, oneLine } from 'sluice-kernel/internal';
import { csdkError } from '../errors.js';
import type { CallbackQueue } from '../frames/callback.js';
import { isFields } from '../frames/frame.js';
import { type AskedCalls, askedCalls, changedInput } from './asked-calls.js';
import { csdkHookEvents } from './hook-events.js';
import type {
  CsdkCanUseTool,
  CsdkHook,
  CsdkHookInput,
  CsdkHookOutput,
  CsdkHooks,
  CsdkPermissionAnswer,
  CsdkPermissionOptions,
  CsdkPreToolUseOutput,
} from './sdk-callbacks.js';
import { type SdkQuestions, sdkQuestion } from './sdk-question.js';

/** Options for a gate beside the SDK's own permission rules. */
export interface ToolGateOptions<
  Options extends CsdkPermissionOptions = CsdkPermissionOptions,
  Answer extends CsdkPermissionAnswer | null = CsdkPermissionAnswer,
> {
  /**
   * The answer of the PreToolUse hook to a call that the pipeline passed. `defer` (the default): nothing, so that the
   * user's own rules still allow it, ask, or deny it. `allow`: it runs, whatever those rules say.
   */
  readonly onPass?: 'allow' | 'defer';
  /**
   * The host's own: asked after the pipeline has passed a call, with the input that it passed. Its answer stands, an
   * input that it changes included. By default a call that the SDK asks about runs if the pipeline passes it.
   */
  readonly canUseTool?: CsdkCanUseTool<Options, Answer>;
  /**
   * The questions of the SDK that humans answer, by the approvals of the host (judgement §4.32). `none` (the default): a call that
   * the SDK asks about runs if the pipeline passes it. `explicit`: those of an `ask` rule, and of a PreToolUse hook that answered
   * `ask`. `all`: each, also about a call that no rule allows. Not beside a `canUseTool`, which answers them itself.
   */
  readonly sdkQuestions?: SdkQuestions;
  /** Told when the host's `canUseTool` has changed the input that the pipeline passed. */
  readonly onInput?: (toolCallId: string, args: Readonly<Record<string, unknown>>) => void;
  /** Told of the result of each tool that has run, in the shape of the tool. Gives another one in its place, or nothing. Never rejects. */
  readonly onResult?: (
    call: ToolCall,
    response: unknown,
  ) => Promise<{ readonly output: unknown } | undefined>;
  /**
   * Seconds that the SDK waits for the PreToolUse hook; by default 25 hours, longer than any question to a human is open
   * (judgement §4.20). A call that it gives up on does not run.
   */
  readonly timeoutSeconds?: number;
}

/** The part of a query's options that asks a gate. */
export interface CsdkToolGate<
  Options extends CsdkPermissionOptions = CsdkPermissionOptions,
  Answer extends CsdkPermissionAnswer | null = CsdkPermissionAnswer,
> {
  readonly canUseTool: CsdkCanUseTool<Options, Answer | CsdkPermissionAnswer>;
  readonly hooks: CsdkHooks;
}

/**
 * Asks a gate about every tool call of one query, subagents' calls included, through the SDK's PreToolUse hook and
 * `canUseTool`, and puts what the SDK calls back about into a queue. However often the SDK asks about a call (both
 * ways, or again after a reconnect) the gate is asked once. A refusal denies the call with its reason; changed
 * arguments become `updatedInput`. A gate that fails denies, and so does a hook that is out of time. Nothing is ever
 * thrown into the SDK.
 *
 * @throws SluiceError `bad-sdk-questions`, if both `canUseTool` and `sdkQuestions` are given.
 * @example
 * const callbacks = callbackQueue();
 * const { canUseTool, hooks } = toolGate(request.gate, callbacks);
 * const events = normalizeSession(query({ prompt, options: { canUseTool, hooks } }), { callbacks });
 */
export function toolGate<
  Options extends CsdkPermissionOptions = CsdkPermissionOptions,
  Answer extends CsdkPermissionAnswer | null = CsdkPermissionAnswer,
>(
  gate: ToolGate,
  callbacks: CallbackQueue,
  options: ToolGateOptions<Options, Answer> = {},
): CsdkToolGate<Options, Answer> {
  const { canUseTool, sdkQuestions = 'none' } = options;
  if (canUseTool !== undefined && sdkQuestions !== 'none')
    throw csdkError('bad-sdk-questions', { sdkQuestions, problem: 'canUseTool answers them' });
  const calls = askedCalls(gate, callbacks);
  return { canUseTool: permissions(calls, options), hooks: hooksOf(calls, callbacks, options) };
}

function permissions<
  Options extends CsdkPermissionOptions,
  Answer extends CsdkPermissionAnswer | null,
>(
  calls: AskedCalls,
  { canUseTool: host, onInput, sdkQuestions = 'none' }: ToolGateOptions<Options, Answer>,
): CsdkToolGate<Options, Answer>['canUseTool'] {
  type Said = Answer | CsdkPermissionAnswer;
  const answers = new Map<string, Promise<Said>>();

  const ask = async (call: ToolCall, sdk: Options): Promise<Said> => {
    const { signal, requestId } = sdk;
    const decision = await calls.decide(call, signal, requestId);
    if (!decision.allowed) return deny(decision.reason);
    const passed = { ...decision.args };
    let said: Said = { behavior: 'allow' };
    try {
      if (host !== undefined) said = await host(call.toolName, { ...passed }, sdk);
      if (said === null) return said; // the call was answered another way, with an answer that is not known here
      if (said.behavior === 'deny') return deny(said.message, said);
      if (said.updatedInput !== undefined) onInput?.(call.toolCallId, said.updatedInput);
    } catch (error) {
      return deny(`canUseTool failed: ${oneLine(error)}`);
    }
    const updatedInput = said.updatedInput ?? passed;
    const changed = changedInput(calls.told(call.toolCallId) ?? call, updatedInput);
    calls.report(call, { decision: 'granted', ...changed }, requestId);
    return { ...said, updatedInput };

    function deny(message: string, answer: Said = { behavior: 'deny', message }): Said {
      calls.report(call, { decision: 'denied', message }, requestId);
      return answer;
    }
  };

  return (toolName, input, sdk) => {
    const { toolUseID: toolCallId, agentID: subagentId, requestId = toolCallId, signal } = sdk;
    const repeated = answers.get(requestId);
    if (repeated !== undefined) return repeated;
    const whose = subagentId === undefined ? {} : { subagentId };
    const question = sdkQuestion(toolName, sdk, sdkQuestions);
    const call = { toolCallId, toolName, args: input, ...whose, ...definedFields({ question }) };
    const answer = ask(call, sdk).then((said) => {
      if (signal.aborted) answers.delete(requestId);
      return said;
    });
    answers.set(requestId, answer);
    return answer;
  };
}

function hooksOf(
  calls: AskedCalls,
  callbacks: CallbackQueue,
  {
    onPass = 'defer',
    timeoutSeconds = 90_000,
    onResult,
  }: Pick<ToolGateOptions, 'onPass' | 'timeoutSeconds' | 'onResult'>,
): CsdkHooks {
  const preToolUse: CsdkHook = async (input, toolUseID, { signal }) => {
    const call = callOf(input, toolUseID);
    if (call === undefined) return denied('the SDK gave the tool call no id');
    const decision = await calls.decide(call, signal);
    if (!decision.allowed) {
      calls.report(call, { decision: 'denied', message: decision.reason });
      return denied(decision.reason);
    }
    const changed = changedInput(call, decision.args);
    if (onPass === 'allow') {
      calls.report(call, { decision: 'granted', ...changed });
      return decided({ permissionDecision: 'allow', ...changed });
    }
    return changed.updatedInput === undefined ? {} : decided(changed);
  };

  const note: CsdkHook = async (input, toolUseID) => {
    const call = callOf(input, toolUseID);
    const { hook_event_name: event } = input;
    // It has run and nobody was asked: the user's own rules allowed it.
    const asked = call && event.startsWith('PostToolUse') ? calls.told(call.toolCallId) : undefined;
    if (call !== undefined && asked !== undefined)
      calls.report(call, {
        decision: 'auto',
        ...changedInput(asked, inputOf(input) ?? asked.args),
      });
    const whose = call === undefined ? {} : { toolUseId: call.toolCallId };
    callbacks.push({ kind: 'hook', event, input: { ...input }, ...whose });
    return {};
  };

  const postToolUse: CsdkHook = async (input, toolUseID, options) => {
    const call = callOf(input, toolUseID);
    const left = call && (await onResult?.(call, input.tool_response));
    if (left === undefined) return note(input, toolUseID, options);
    const { output: updatedToolOutput } = left;
    await note({ ...input, tool_response: updatedToolOutput }, toolUseID, options);
    return { hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput } };
  };

  // Blocked where it fails or is late: a call that nobody judged does not run.
  const judges = { timeout: timeoutSeconds, onFailure: 'block' };
  const matchers = csdkHookEvents.map((event) => {
    if (event === 'PreToolUse') return [event, [{ hooks: [preToolUse], ...judges }]];
    return [
      event,
      [event === 'PostToolUse' ? { hooks: [postToolUse], ...judges } : { hooks: [note] }],
    ];
  });
  return Object.fromEntries(matchers) as CsdkHooks; // a matcher for each of the events
}

function callOf(input: CsdkHookInput, toolUseID: string | undefined): ToolCall | undefined {
  const { tool_name, tool_use_id, agent_id } = input;
  const toolCallId = typeof tool_use_id === 'string' ? tool_use_id : toolUseID;
  if (toolCallId === undefined) return undefined;
  return {
    toolCallId,
    toolName: typeof tool_name === 'string' ? tool_name : 'unknown',
    args: inputOf(input) ?? {},
    ...(typeof agent_id === 'string' && { subagentId: agent_id }),
  };
}

/** The input that a hook says its call has. */
function inputOf({ tool_input: input }: CsdkHookInput): ToolCall['args'] | undefined {
  return isFields(input) ? input : undefined;
}

function denied(permissionDecisionReason: string): CsdkHookOutput {
  return decided({ permissionDecision: 'deny', permissionDecisionReason });
}

function decided(output: Omit<CsdkPreToolUseOutput, 'hookEventName'>): CsdkHookOutput {
  return { hookSpecificOutput: { hookEventName: 'PreToolUse', ...output } };
}
