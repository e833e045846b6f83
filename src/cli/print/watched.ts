import { nameOf, type Outcome, type OutcomeRecord, type Step } from 'sluice-kernel/internal';

/**
 * A dispatch that handlers have only watched: it passed, and none of them did anything. Such dispatches that follow one another,
 * as the deltas of a text do, become one.
 */
export interface Watched {
  /** Dispatches with the same key can become one. */
  readonly key: string;
  readonly record: OutcomeRecord;
  readonly count: number;
}

/** Reads a dispatch as one that was only watched; `undefined` if it has other news. */
export function watched(outcome: Outcome): Watched | undefined {
  const { status, steps, changes, candidates, staleApprovals, skipped, failures, event } = outcome;
  const others = [changes, candidates, staleApprovals, skipped, failures];
  if (status !== 'passed' || steps.length === 0 || others.some((list) => list.length > 0))
    return undefined;
  if (steps.some(({ result }) => result !== 'nothing')) return undefined;
  const names = steps.map(nameOf);
  const { family } = event;
  const nothing = { changes, candidates, staleApprovals, skipped, failures };
  return {
    key: [family, ...names].join(' '),
    record: { status, event: { family }, steps, ...nothing },
    count: 1,
  };
}

/** Adds one more dispatch of a kind: the times of each handler add up. */
export function oneMore(before: Watched, { record }: Watched): Watched {
  const steps = before.record.steps.map((step, at): Step => {
    const also = record.steps[at]?.durationMs;
    if (step.durationMs === undefined || also === undefined) return step;
    return { ...step, durationMs: step.durationMs + also };
  });
  return { ...before, record: { ...before.record, steps }, count: before.count + 1 };
}
