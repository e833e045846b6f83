import { authorOf, type Entry } from '../../outcome/entry.js';
import type { Author } from '../../outcome/outcome.js';
import { isVeto, type Plan, vetoPlan } from '../services/plan.js';

/** The terms of an answered pass (judgement §4.5). */
export interface Answered {
  /** The vetoes whose questions were answered. */
  readonly by: readonly Author[];
  /** The vetoes that judge. */
  readonly plan: Plan;
  /** The handlers that are not called. */
  readonly passedOver: readonly Entry[];
}

/** The terms of an answered pass over the handlers of a plan. */
export function answeredTerms(plan: Plan, by: readonly Author[]): Answered {
  const judges = (entry: Entry): boolean =>
    isVeto(entry) && (entry.recheck || !by.some((author) => isOf(author, entry)));
  return {
    by: Object.freeze(by.map((author) => Object.freeze(authorOf(author)))),
    plan: vetoPlan(plan, plan.entries.filter(judges)),
    passedOver: plan.entries.filter((entry) => !judges(entry)),
  };
}

/** Tells whether a human has answered the question of a veto. */
export function isAnswered(answered: Answered | undefined, entry: Entry): boolean {
  return answered?.by.some((author) => isOf(author, entry)) === true;
}

function isOf({ extensionId, contributionId }: Author, entry: Entry): boolean {
  return extensionId === entry.extensionId && contributionId === entry.contributionId;
}
