import type { ApprovalQuestion } from 'sluice-kernel';

/** A tool call that wants to run. */
export interface ToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The subagent that calls it, by its provider's id; absent in the main thread. */
  readonly subagentId?: string;
  /** The question that its provider wants a human to answer before it runs (judgement §4.32). */
  readonly question?: ApprovalQuestion;
}

/** The decision whether a tool call may run, and with which arguments. */
export type ToolDecision =
  | { readonly allowed: true; readonly args: Readonly<Record<string, unknown>> }
  | { readonly allowed: false; readonly reason: string };

/**
 * Asks the pipeline about a tool call before it runs. It never rejects. Asked again about a call, it gives the same
 * decision; if it has allowed the call and the call now has a question, a human is asked first. An asker that no longer
 * wants one aborts the signal.
 */
export type ToolGate = (call: ToolCall, signal?: AbortSignal) => Promise<ToolDecision>;
