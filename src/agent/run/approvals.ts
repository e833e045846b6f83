import { nodeSignal, type StopSignal } from '@sluice/sdk/stream/internal';
import {
  type AnsweredAsker,
  type ApprovalCode,
  type ApprovalQuestion,
  type AskingFamily,
  type CancelRecord,
  definedFields,
  type Envelope,
  type Outcome,
  oneLine,
  type PayloadOf,
  type Principal,
} from 'sluice-kernel/internal';

/** A question that a human is to answer, about the payload that every veto has judged (judgement §4.7). */
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
      /** The one who has allowed it, the time, and the scope, in words for people; the outcome of the answered pass holds it. */
      readonly how?: string;
      /** An "always" has answered it: no human has seen this action. */
      readonly isGranted?: boolean;
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

/** An answered pass, as it is dispatched: on exactly the payload that was judged. */
export interface AnsweredPass<F extends AskingFamily> {
  readonly payload: PayloadOf<F>;
  readonly given: { readonly answered: readonly AnsweredAsker[]; readonly after: Outcome<F> };
}

/** An action that may be asked about, and how it is dispatched. */
interface AskedAction<F extends AskingFamily>
  extends Pick<ApprovalRequest, 'runId' | 'sessionKey' | 'subagentId'> {
  readonly signal: StopSignal;
  readonly family: F;
  readonly approvals: Approvals | undefined;
  /**
   * The question of the one who makes the action, such as an SDK. It is asked when the vetoes have passed the action, unless a human
   * has allowed it already (judgement §4.32).
   */
  readonly question?: ApprovalQuestion;
  /** The questions about this action that humans have allowed before. */
  readonly allowed?: readonly ApprovalQuestion[];
  /** Dispatches it, the first time without an answered pass. */
  readonly dispatch: (again?: AnsweredPass<F>) => Promise<Outcome<F>>;
}

/** An action as vetoes and humans have judged it. */
export interface Judged<F extends AskingFamily> {
  /** The first dispatch of it: the only one if nobody was asked. */
  readonly first: Outcome<F>;
  /** The last dispatch of it. */
  readonly outcome: Outcome<F>;
  /** Why it is refused, if a veto or a human says so: the outcome's own, or the answer of the human. */
  readonly cancel?: CancelRecord;
  /** The questions that humans have allowed about exactly this action: an "always" is none of them. */
  readonly allowed: readonly ApprovalQuestion[];
  /**
   * Marks the answers as used, before the action happens. Resolves with the reason if it may not happen (judgement §4.9). Absent if
   * nobody was asked.
   */
  readonly use?: () => Promise<CancelRecord | undefined>;
}

/**
 * Judges an action: the one loop by which humans are asked (judgement §4.7). It dispatches. While a question is open, it asks, and
 * dispatches the answered pass on the payload that was judged. A port that fails refuses. Rejects as `dispatch` does.
 */
export async function judgeAsking<F extends AskingFamily>(
  action: AskedAction<F>,
): Promise<Judged<F>> {
  const first = await action.dispatch();
  const isAsked = first.status === 'cancelled' || action.question !== undefined;
  return isAsked ? askAll(action, first) : { first, outcome: first, allowed: none };
}

const none: readonly ApprovalQuestion[] = Object.freeze([]);

async function askAll<F extends AskingFamily>(
  action: AskedAction<F>,
  first: Outcome<F>,
): Promise<Judged<F>> {
  const { approvals, dispatch, signal, question: own, allowed: before = none, ...about } = action;
  const answered: AnsweredAsker[] = [...(first.answered ?? [])];
  const uses: Use[] = [];
  const allowed = [...before];
  let outcome = first;
  for (;;) {
    const cancel = outcome.status === 'cancelled' ? outcome.cancel : undefined;
    const question = cancel === undefined ? stillOpen(own, outcome, allowed) : cancel.question;
    if (question === undefined) {
      const use = uses.length === 0 ? undefined : () => useAll(uses, signal);
      return { first, outcome, allowed, ...definedFields({ cancel, use }) };
    }
    if (approvals === undefined) {
      question.onAnswer?.('withdrawn');
      const text = `an approval is needed: ${question.title}`;
      const why = cancel ?? refused(question, 'approval-required', text);
      return { first, outcome, allowed, cancel: why };
    }
    const { event, payload, principal } = outcome;
    const asked = { ...about, question, payload, event, signal: nodeSignal(signal) };
    const request = { ...asked, ...definedFields({ principal }) };
    const said = await askOnce(approvals, request);
    if ('code' in said) return { first, outcome, allowed, cancel: said };
    uses.push(said);
    if (question === own || !said.isGranted) allowed.push(question);
    answered.push({ ...question.asker, ...definedFields({ how: said.how }) });
    outcome = await dispatch({ payload, given: { answered: [...answered], after: outcome } });
  }
}

/** The question of the one who makes the action, if the vetoes have passed it and its approver has not allowed the action yet. */
function stillOpen(
  own: ApprovalQuestion | undefined,
  { status }: Outcome,
  allowed: readonly ApprovalQuestion[],
): ApprovalQuestion | undefined {
  return status !== 'passed' || allowed.some(({ of }) => of === own?.of) ? undefined : own;
}

/** Says in words why an action is refused. */
export function refusalOf(cancel: CancelRecord | undefined): string | undefined {
  return cancel?.text ?? cancel?.code;
}

interface Use {
  readonly question: ApprovalQuestion;
  readonly use: () => Promise<boolean>;
  readonly how: string | undefined;
  readonly isGranted: boolean;
}

/** @returns how the answer is used if it is yes, or why the action is refused. */
async function askOnce(
  approvals: Approvals,
  request: ApprovalRequest,
): Promise<Use | CancelRecord> {
  const { question, signal } = request;
  let answer: ApprovalAnswer;
  try {
    answer = signal.aborted ? { status: 'withdrawn' } : await approvals.ask(request);
  } catch (error) {
    question.onAnswer?.('withdrawn');
    return refused(question, 'approval-required', `nobody could be asked: ${oneLine(error)}`);
  }
  question.onAnswer?.(signal.aborted ? 'withdrawn' : answer.status);
  switch (answer.status) {
    case 'allowed':
      if (signal.aborted) return refused(question, 'approval-required', gone);
      return { question, use: answer.use, how: answer.how, isGranted: answer.isGranted === true };
    case 'denied': {
      const why = answer.reason === undefined ? '' : `: ${answer.reason}`;
      return refused(question, 'approval-denied', `a human denied it${why}`);
    }
    case 'expired':
      return refused(question, 'approval-timeout', 'no human allowed it in time');
    case 'withdrawn':
      return refused(question, 'approval-required', gone);
  }
}

const gone = 'nobody waits for the answer of a human any more';

async function useAll(uses: readonly Use[], signal: StopSignal): Promise<CancelRecord | undefined> {
  for (const { question, use } of uses) {
    if (signal.aborted) return refused(question, 'approval-required', gone);
    const problem = await use().then(
      (isUsed) => (isUsed ? undefined : 'it was used before, or is too old'),
      oneLine,
    );
    if (problem !== undefined)
      return refused(question, 'approval-required', `the answer cannot be used: ${problem}`);
  }
  return undefined;
}

function refused({ asker }: ApprovalQuestion, code: ApprovalCode, text: string): CancelRecord {
  return Object.freeze({ ...asker, code, text });
}
