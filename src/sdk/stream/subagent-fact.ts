import type { ToolExecutionEnd } from './session-event.js';
import type { ToolCall } from './tool/tool-call.js';

/** The subagent that a tool call starts. */
export interface SubagentStart {
  /** The agent that the subagent is. */
  readonly agentId: string;
  readonly label?: string;
  /** The subagent goes on after the call has answered. */
  readonly isBackground?: boolean;
}

/** A subagent that runs. A source names the call that started it, or leaves that to be found. */
export interface RunningSubagent extends Partial<SubagentStart> {
  readonly childRunId: string;
  readonly toolCallId?: string;
}

/** The end of a subagent. */
export type SubagentStatus = 'completed' | 'failed' | 'stopped' | 'killed';

/** A subagent whose answer came on its own, after what was asked had been answered. */
export interface SubagentAnswer {
  readonly childSessionKey: string;
  readonly requesterSessionKey: string;
  readonly childRunId: string;
  readonly spawnMode: 'run' | 'session';
}

/** The end of a tool call. */
export interface ToolEnd extends Omit<ToolExecutionEnd, 'type'> {
  /** The subagent whose call it was. */
  readonly subagentId?: string;
}

/** A fact that a provider tells of the subagents of a run. Session events do not carry it. Narrow by `kind`. */
export type SubagentFact =
  /** A subagent calls a tool. */
  | { readonly kind: 'tool_started'; readonly call: ToolCall }
  | { readonly kind: 'tool_ended'; readonly end: ToolEnd }
  | { readonly kind: 'child_runs'; readonly child: RunningSubagent }
  /** A subagent stopped; another fact tells how it ended, or none does. */
  | { readonly kind: 'child_stopped'; readonly childRunId: string }
  | {
      readonly kind: 'child_ended';
      readonly childRunId: string;
      readonly status: SubagentStatus;
      readonly error?: string;
    }
  /** The question has been answered, and subagents go on in the background. */
  | { readonly kind: 'answered' }
  /**
   * The agent's words from now on tell of the answers of these subagents, which came on their own; of none again, if the list
   * is empty.
   */
  | { readonly kind: 'children_answered'; readonly childRunIds: readonly string[] };
