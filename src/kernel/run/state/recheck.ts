import { authorOf, type Entry, isOf, nameOf } from '../../outcome/entry.js';
import type { StaleApproval } from '../../outcome/outcome.js';
import type { ApprovalQuestion } from '../../outcome/question.js';
import { isVeto, judgesAgain, type Plan, subPlan } from '../services/plan.js';
import { writersOf } from './changes.js';
import type { Run } from './run.js';

/**
 * The vetoes that allowed before a later patch or choice, in run order: they judge again, on what stands in the end. Those that
 * decline are noted as stale (spec §8.3).
 *
 * @returns nothing if the payload that was judged is still the same.
 */
export function recheckPlan(run: Run): Plan | undefined {
  const { plan } = run;
  if (!plan.mayGoStale || run.lastChangeAt < 0) return undefined;
  const allowed = plan.entries
    .slice(0, run.lastChangeAt)
    .filter((entry) => judgesAgain(entry) && !hasFailed(run, entry));
  const declining = allowed.filter((entry) => !entry.traits.recheck && isVeto(entry));
  if (declining.length > 0) run.cold.stale = declining;
  const again = allowed.filter((entry) => entry.traits.recheck);
  if (run.questions !== undefined) askAnew(run, again);
  return again.length === 0 ? undefined : subPlan(plan, again);
}

/** The questions of vetoes that judge again: what they then say stands in their place (judgement §4.3). */
function askAnew(run: Run, again: readonly Entry[]): void {
  const { cold } = run;
  cold.earlier = cold.questions;
  cold.questions = new Map([...(cold.questions ?? [])].filter(([entry]) => !again.includes(entry)));
}

/**
 * The questions that are open when the stage has ended: also the earlier one of a veto that failed when it judged again, or was not
 * called to (judgement §4.5).
 */
export function standingQuestions(run: Run): ReadonlyMap<Entry, ApprovalQuestion> {
  const { questions, earlier } = run;
  const { answered } = run.terms;
  const stands = (entry: Entry): boolean =>
    answered?.passedOver.includes(entry) === true || hasFailed(run, entry);
  const kept = [...(earlier ?? [])].filter(([entry]) => stands(entry));
  return new Map([...kept, ...(questions ?? [])]);
}

/** The writes that each declining veto did not judge, with their authors. */
export function staleApprovals(run: Run): StaleApproval[] {
  return (run.stale ?? []).map((entry) => {
    const at = run.plan.entries.indexOf(entry);
    const changers = [...writersOf(run), ...(run.cold.choosers ?? [])];
    const later = changers.filter((changer) => run.plan.entries.indexOf(changer) > at);
    const authors = new Map(later.map((changer) => [nameOf(changer), changer]));
    return { ...authorOf(entry), changedBy: [...authors.values()].map(authorOf) };
  });
}

function hasFailed(run: Run, entry: Entry): boolean {
  return (run.failures ?? []).some((failure) => isOf(failure, entry));
}
