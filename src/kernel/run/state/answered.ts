import { authorOf, type Entry, isOf } from '../../outcome/entry.js';
import type { AnsweredAsker, Author } from '../../outcome/outcome.js';
import type { ApprovalQuestion } from '../../outcome/question.js';
import { definedFields } from '../../value/defined-fields.js';
import { isVeto, type Plan, vetoPlan } from '../services/plan.js';

/** The terms of an answered pass (judgement §4.5). */
export interface Answered {
  /** The vetoes whose questions were answered. */
  readonly by: readonly AnsweredAsker[];
  /** The vetoes that judge. */
  readonly plan: Plan;
  /** The handlers that are not called. */
  readonly passedOver: readonly Entry[];
  /** The questions of the pass before that nobody has answered, in run order. */
  readonly open: ReadonlyMap<Entry, ApprovalQuestion>;
}

/**
 * The terms of an answered pass over the handlers of a plan.
 *
 * @param asked the questions that were open when the pass before had ended.
 */
export function answeredTerms(
  plan: Plan,
  by: readonly AnsweredAsker[],
  asked: readonly ApprovalQuestion[],
): Answered {
  const open = openQuestions(plan, by, asked);
  const declines = (entry: Entry): boolean =>
    !entry.traits.recheck && (open.has(entry) || isAmong(by, entry));
  const judges = (entry: Entry): boolean => isVeto(entry) && !declines(entry);
  return {
    by: Object.freeze(
      by.map((one) => Object.freeze({ ...authorOf(one), ...definedFields({ how: one.how }) })),
    ),
    plan: vetoPlan(plan, plan.entries.filter(judges)),
    passedOver: plan.entries.filter((entry) => !judges(entry)),
    open,
  };
}

/** Returns whether a human has answered the question of a veto. */
export function isAnswered(answered: Answered | undefined, entry: Entry): boolean {
  return answered !== undefined && isAmong(answered.by, entry);
}

function openQuestions(
  plan: Plan,
  by: readonly Author[],
  asked: readonly ApprovalQuestion[],
): Answered['open'] {
  return new Map(
    plan.entries.flatMap((entry) => {
      const question = asked.find(({ asker }) => isOf(asker, entry));
      return question === undefined || !isVeto(entry) || isAmong(by, entry)
        ? []
        : [[entry, question] as const];
    }),
  );
}

function isAmong(authors: readonly Author[], entry: Entry): boolean {
  return authors.some((author) => isOf(author, entry));
}
