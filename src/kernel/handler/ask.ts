import type { ApprovalQuestion, AskAnswer } from '../outcome/question.js';

/** The question of `ask`. */
export type AskOptions = Pick<ApprovalQuestion, 'title' | 'text' | 'timeoutMs'> &
  Partial<Pick<ApprovalQuestion, 'of' | 'scopes'>> & {
    /** Hears the end of the question, at most once in a run. It is not waited for; what it throws is logged. */
    readonly onAnswer?: (answer: AskAnswer) => void | Promise<void>;
  };

/** A veto's decision that a human is to be asked first. Plain tagged data (judgement §4). */
export interface Ask extends AskOptions {
  readonly kind: 'ask';
}

/**
 * Asks a human before the action happens. Any cancel of the stage beats it, and it beats any `allow()`. `agent.tool.calling`,
 * `subagent.spawning` and `egress.preparing` take it; elsewhere it does not compile. A source that cannot ask refuses the action
 * (judgement §4.3).
 *
 * @param question for people: a title and perhaps a text; `of`, the one who may answer (an owner by default); `timeoutMs`, after which
 *   no answer is a denial; `scopes`, for which the approver may answer "always"; `onAnswer`, which hears the end of the question.
 * @example
 * api.veto('agent.tool.calling', 'deploys', ({ payload }) =>
 *   payload.toolName === 'deploy' ? ask({ title: 'Deploy?', of: { role: 'admin' } }) : allow());
 */
export function ask(question: AskOptions): Ask {
  return { ...question, kind: 'ask' };
}
