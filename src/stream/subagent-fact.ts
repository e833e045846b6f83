import type { ToolExecutionEnd } from './session-event.js';
import type { ToolCall } from './tool-call.js';

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

/** How a subagent ended. */
export type SubagentStatus = 'completed' | 'failed' | 'stopped' | 'killed';

/** How a tool call ended. */
export interface ToolEnd extends Omit<ToolExecutionEnd, 'type'> {
  /** The subagent whose call it was. */
  readonly subagentId?: string;
}

/** What a provider tells of the subagents of a run. Session events do not carry it. Narrow by `kind`. */
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
    };
