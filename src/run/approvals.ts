import type { ApprovalQuestion, AskingFamily, Envelope, Principal } from '../kernel/index.js';

/** A question that a human is to answer, about the payload that every veto has judged (judgement §4.4). */
export interface ApprovalRequest {
  readonly question: ApprovalQuestion;
  readonly family: AskingFamily;
  /** The exact data that is acted on, if the answer is yes. */
  readonly payload: object;
  /** The event of the dispatch that asked. */
  readonly event: Envelope;
  /** On whose behalf it happens; absent if nobody is proven. */
  readonly principal?: Principal;
  readonly runId?: string;
  readonly sessionKey?: string;
  /** The subagent that acts; absent in the main thread. */
  readonly subagentId?: string;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** The answer to a question. */
export type ApprovalAnswer =
  | {
      readonly status: 'allowed';
      /** Marks the answer as used, and resolves when that is on disk; with `false` if it cannot be used any more. */
      readonly use: () => Promise<boolean>;
    }
  | {
      readonly status: 'denied';
      /** The approver's words; the model reads them. */
      readonly reason?: string;
    }
  | { readonly status: 'expired' | 'withdrawn' };

/** The port by which a run, a subagent and a send ask a human. The host has one; without one, what asks is refused. */
export interface Approvals {
  /** Resolves when there is an answer, when its time is up, or when the signal aborts. */
  ask(request: ApprovalRequest): Promise<ApprovalAnswer>;
}
