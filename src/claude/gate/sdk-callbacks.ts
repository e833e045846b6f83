import type { csdkHookEvents } from './hook-events.js';

/**
 * The SDK's callbacks, as far as they are used here: a structural copy, so that nothing of ours needs the SDK to
 * compile. What we make is assignable to the SDK's own types, and so are its callbacks to ours.
 */

/** The facts that `canUseTool` gets beside the tool's name and input. */
export interface CsdkPermissionOptions {
  /** Aborted when the answer is no longer wanted. */
  readonly signal: AbortSignal;
  readonly toolUseID: string;
  /** The subagent that asks; absent in the main thread. */
  readonly agentID?: string | undefined;
  /** Kept when the SDK repeats a request after a reconnect. */
  readonly requestId?: string | undefined;
  /** The cause of the question in words: those of a hook that answered `ask`, for instance. */
  readonly decisionReason?: string | undefined;
  /** The path that the question is about, if there is one. */
  readonly blockedPath?: string | undefined;
  /** The kind of the cause: `hook`, `rule` or another. SDK 0.3.330 gives it, and does not declare it. */
  readonly decisionReasonType?: unknown;
  /** The `ask` rule that wants the question, where the cause does not tell of it. */
  readonly matchedAskRule?: unknown;
}

/** The answer of `canUseTool`. More fields than these are passed on untouched. */
export type CsdkPermissionAnswer =
  | { readonly behavior: 'allow'; readonly updatedInput?: Record<string, unknown> }
  | { readonly behavior: 'deny'; readonly message: string };

/** `options.canUseTool` of a query. `null` says that the answer has gone another way. */
export type CsdkCanUseTool<
  Options extends CsdkPermissionOptions = CsdkPermissionOptions,
  Answer extends CsdkPermissionAnswer | null = CsdkPermissionAnswer,
> = (toolName: string, input: Record<string, unknown>, options: Options) => Promise<Answer>;

/** The input of a hook: only its event is common to all. */
export interface CsdkHookInput {
  readonly hook_event_name: string;
  readonly tool_name?: unknown;
  readonly tool_input?: unknown;
  readonly tool_response?: unknown;
  readonly tool_use_id?: unknown;
  readonly agent_id?: unknown;
}

/** The decision of a PreToolUse hook. Without a `permissionDecision` the SDK's own rules decide. */
export interface CsdkPreToolUseOutput {
  readonly hookEventName: 'PreToolUse';
  readonly permissionDecision?: 'allow' | 'deny';
  readonly permissionDecisionReason?: string;
  readonly updatedInput?: Record<string, unknown>;
}

/**
 * The answer of a hook: nothing, a decision about a tool call, or the result that the model gets of it. The SDK drops a result that
 * has not the shape of the tool.
 */
export interface CsdkHookOutput {
  readonly hookSpecificOutput?:
    | CsdkPreToolUseOutput
    | { readonly hookEventName: 'PostToolUse'; readonly updatedToolOutput: unknown };
}

/** A hook, as the SDK calls it. */
export type CsdkHook = (
  input: CsdkHookInput,
  toolUseID: string | undefined,
  options: { readonly signal: AbortSignal },
) => Promise<CsdkHookOutput>;

/** A list of hooks, and what the SDK does when one is late or fails. Mutable, as the SDK wants it. */
export interface CsdkHookMatcher {
  hooks: CsdkHook[];
  /** Seconds. */
  timeout?: number;
  onFailure?: 'continue' | 'block';
}

/** `options.hooks` of a query. */
export type CsdkHooks = Record<(typeof csdkHookEvents)[number], CsdkHookMatcher[]>;
