import { definedFields } from 'sluice-kernel/internal';
import { isTaskOver } from '../frames/background-work.js';
import { type CsdkBlock, type CsdkFrame, isFields, textField } from '../frames/frame.js';

/**
 * The `partialResult` of a `tool_execution_update`. The SDK has no partial output of tools: it tells these things of a
 * call that runs. Narrow by `kind`.
 */
export type ToolPartial =
  | {
      /** The tool runs. */
      readonly kind: 'progress';
      readonly elapsedSeconds: number;
      readonly taskId?: string;
      /** The subagent's call that runs, where the update is of the call that started the subagent. */
      readonly toolCallId?: string;
      readonly toolName?: string;
    }
  /** The call goes on in the background; its result comes later. */
  | { readonly kind: 'detached' }
  /** The outcome of the call and of others before it, in words. */
  | { readonly kind: 'summary'; readonly summary: string }
  | {
      /** The task that the call started. */
      readonly kind: 'task';
      readonly phase: 'started' | 'progress' | 'updated' | 'notification';
      readonly taskId: string;
      readonly status?: string;
      readonly description?: string;
      readonly summary?: string;
      readonly subagentType?: string;
      readonly lastToolName?: string;
    }
  | {
      /** A complete block of a subagent that the call started: what it said, called, or was answered. */
      readonly kind: 'subagent';
      /** The call whose subagent it is; another one than the update's where subagents start subagents. */
      readonly lane: string;
      readonly role: 'assistant' | 'user';
      readonly block: CsdkBlock;
      readonly agentId?: string;
      readonly subagentType?: string;
    };

/** Of a `tool_progress` frame. */
export function progressPartial(frame: CsdkFrame): Extract<ToolPartial, { kind: 'progress' }> {
  const elapsed = frame.elapsed_time_seconds;
  return {
    kind: 'progress',
    elapsedSeconds: typeof elapsed === 'number' ? elapsed : 0,
    ...definedFields({ taskId: textField(frame, 'task_id') }),
  };
}

const phases = {
  task_started: 'started',
  task_progress: 'progress',
  task_updated: 'updated',
  task_notification: 'notification',
} as const;

/** Of a `system` frame about a task; nothing for others. */
export function taskPartial(frame: CsdkFrame): Extract<ToolPartial, { kind: 'task' }> | undefined {
  const subtype = textField(frame, 'subtype') ?? '';
  const taskId = textField(frame, 'task_id');
  if (!Object.hasOwn(phases, subtype) || taskId === undefined) return undefined;
  const patch = isFields(frame.patch) ? frame.patch : {};
  return {
    kind: 'task',
    phase: phases[subtype as keyof typeof phases], // checked above
    taskId,
    ...definedFields({
      status: textField(frame, 'status') ?? textField(patch, 'status'),
      description: textField(frame, 'description'),
      summary: textField(frame, 'summary'),
      subagentType: textField(frame, 'subagent_type'),
      lastToolName: textField(frame, 'last_tool_name'),
    }),
  };
}

/** The end of a call's task. */
export interface TaskOutcome {
  readonly result: unknown;
  readonly isError: boolean;
  /** Nothing more is to come of it. */
  readonly isFinal: boolean;
}

type TaskPartial = Extract<ToolPartial, { kind: 'task' }>;

/**
 * Reads the end of a task, in the shape in which the Agent tool answers for a subagent in the foreground. Nothing while it goes on.
 * The notification has the report of the subagent. It comes last, if it comes.
 */
export function taskOutcome(partial: TaskPartial): TaskOutcome | undefined {
  const { phase, taskId, status, summary } = partial;
  const isFinal = phase === 'notification';
  if (!isFinal && !(phase === 'updated' && isTaskOver(status))) return undefined;
  const content = summary === undefined ? [] : [{ type: 'text', text: summary }];
  const isError = status !== undefined && status !== 'completed';
  return { result: { status: status ?? 'completed', agentId: taskId, content }, isError, isFinal };
}
