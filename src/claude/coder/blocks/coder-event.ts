/** The agent that an event tells of. What this package makes says 'claude'. */
type CoderProvider = 'codex' | 'gemini' | 'claude';

interface CoderEvent<Type extends string> {
  readonly type: Type;
  readonly provider: CoderProvider;
  /** Milliseconds since 1970: when the message was normalized. Events of one message share it. */
  readonly ts: number;
  /** The source of the event, untouched and by reference: an SDK message, a callback, or a `{ reason }`. */
  readonly originalItem?: unknown;
}

/** A session began, or another one took its place. */
interface CoderInit extends CoderEvent<'init'> {
  readonly threadId?: string;
  readonly model?: string;
}

/**
 * A text. With `delta` it is a piece; without, it is whole, and stands for the pieces since the last whole one.
 * Take either kind alone, and every text comes once.
 */
export interface CoderMessage extends CoderEvent<'message'> {
  readonly role: 'assistant' | 'user' | 'system';
  readonly text?: string;
  readonly delta?: boolean;
}

/** The agent calls a tool. */
interface CoderToolUse extends CoderEvent<'tool_use'> {
  readonly name: string;
  readonly callId?: string;
  readonly args?: unknown;
}

/** A tool has answered. */
export interface CoderToolResult extends CoderEvent<'tool_result'> {
  readonly name: string;
  readonly callId?: string;
  readonly result?: unknown;
  /** Of a shell command, where the agent tells it. Claude does not. */
  readonly exitCode?: number | null;
  /** The failure of the tool; absent if it worked. */
  readonly error?: string;
}

/** Something happened that is neither text nor a tool call. */
interface CoderProgress extends CoderEvent<'progress'> {
  readonly label?: string;
  readonly detail?: string;
}

/** The decision on a tool call: by a person or the host, or `auto` by a rule. */
export type PermissionDecision = 'granted' | 'denied' | 'auto';

/** A tool call waits for leave, or has got an answer. */
interface CoderPermission extends CoderEvent<'permission'> {
  readonly request?: unknown;
  /** One of the three; `toCoderEvents` hands on any other text that the message says. */
  readonly decision?: PermissionDecision | (string & {});
}

/** A tool changed a file. */
interface CoderFileChange extends CoderEvent<'file_change'> {
  readonly path?: string;
  readonly op?: 'create' | 'modify' | 'delete' | 'rename';
  /** The hunks of a unified diff. */
  readonly patch?: string;
}

/** The agent's list of things to do, as it is now. */
interface CoderPlanUpdate extends CoderEvent<'plan_update'> {
  readonly text?: string;
}

/** Token counts: two under common names, beside everything that the agent counts under its own. */
export interface CoderUsageStats {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly [count: string]: unknown;
}

/** The usage of a turn. */
export interface CoderUsage extends CoderEvent<'usage'> {
  readonly stats?: CoderUsageStats;
}

/** The run failed. */
interface CoderError extends CoderEvent<'error'> {
  /** `interrupted` after `cancelled`, `threw` where the stream itself failed, else what the result says. */
  readonly code?: string;
  readonly message: string;
}

/** Someone stopped the run. An `error` with the code `interrupted` follows. */
type CoderCancelled = CoderEvent<'cancelled'>;

/** The run is over. */
export type CoderDone = CoderEvent<'done'>;

/**
 * One normalized event of a coding agent's run, as seed 002 has it. Narrow by `type`.
 *
 * @example
 * if (event.type === 'message' && event.delta) process.stdout.write(event.text ?? '');
 */
export type CoderStreamEvent =
  | CoderInit
  | CoderMessage
  | CoderToolUse
  | CoderToolResult
  | CoderProgress
  | CoderPermission
  | CoderFileChange
  | CoderPlanUpdate
  | CoderUsage
  | CoderError
  | CoderCancelled
  | CoderDone;
