import type { AgentToolResult, ToolCall, ToolDecision } from '@sluice/sdk/stream';
import type { ApprovalQuestion, Outcome } from 'sluice-kernel/internal';

/** A tool call of a run that has not ended. */
export interface ActiveCall {
  call: ToolCall;
  readonly startedAtMs: number;
  params: Readonly<Record<string, unknown>>;
  /** The reason why it may not run; its result then says the same. */
  refusal?: string;
  /** `agent.tool.calling` was dispatched for it. */
  judged: boolean;
  /** The one answer of the gate to every question about the call. */
  decision?: Promise<ToolDecision>;
  /** The last dispatch of it that let it run, and the questions that humans have allowed about it. */
  passed?: Passed;
  /** The answer as `agent.tool.returning` has left it; the end of the call may hold it in another shape. */
  given?: AgentToolResult;
  /** Its provider has run it, and its result was judged in the shape of the provider. */
  isOwnJudged?: true;
  /** The judgement has made a failure of it. */
  hasFailed?: boolean;
}

/** A call that was let run. */
export interface Passed {
  readonly outcome: Outcome<'agent.tool.calling'>;
  readonly allowed: readonly ApprovalQuestion[];
}
