import { MatchIndex } from '../../match/match-index.js';
import { type AnyHandler, codes, type Entry, type ResultCode } from '../../outcome/entry.js';
import type { Stage } from '../../stage/stage.js';
import { type Band, bands } from '../../stage/vocabulary.js';

/**
 * The handlers of a family in run order. Made when contributions change, never on dispatch; replaced, never
 * edited, so that a dispatch in flight keeps the one it started with (spec §4.5).
 */
export interface Plan {
  readonly stage: Stage;
  readonly entries: readonly Entry[];
  /** The handlers of the entries, side by side for the loops. */
  readonly handlers: readonly AnyHandler[];
  readonly owns: readonly object[];
  readonly codes: readonly ResultCode[];
  readonly size: number;
  /** Contributions that the operator disabled, or that are in quarantine and skipped. */
  readonly absent: readonly Entry[];
  /** The handlers of the other band, if the plan is of one only. */
  readonly otherBand: readonly Entry[];
  /** The handlers that do not match, if the plan is of those that do. */
  readonly unmatched: readonly Entry[];
  /** Finds the handlers that match a dispatch; absent if none of them has a match. */
  readonly index: MatchIndex<Plan> | undefined;
  /** Milliseconds the whole dispatch may take. */
  readonly stageTimeoutMs: number;
  /** Tells whether a veto stands before a mutator or resolver: only then can something change after it allowed. */
  readonly mayGoStale: boolean;
  readonly hasResolvers: boolean;
  /** Tells whether a veto is among them whose silence is a failure. */
  readonly hasStrict: boolean;
  /** The same plan without resolvers, for a payload that names its target. */
  readonly settled: Plan | undefined;
}

/** The cost of sorting so far, for the tests of complexity. */
export interface PlanCounters {
  plansBuilt: number;
  comparisons: number;
}

/** Sorts by band, priority descending, extension id ascending, contribution id ascending, by code unit (spec §4.1). */
export function buildPlan(
  stage: Stage,
  contributed: Iterable<Entry>,
  counters: PlanCounters,
): Plan {
  counters.plansBuilt++;
  const entries = [...contributed].sort((left, right) => {
    counters.comparisons++;
    return (
      bands.indexOf(left.band) - bands.indexOf(right.band) ||
      right.priority - left.priority ||
      byCodeUnit(left.extensionId, right.extensionId) ||
      byCodeUnit(left.contributionId, right.contributionId)
    );
  });
  const absent = entries.filter((entry) => entry.absent !== undefined);
  const present = entries.filter((entry) => entry.absent === undefined);
  return indexed(planWithin(stage, present, { ...nobody, absent }));
}

/** The part of a plan that is of one band (spec §4.9). */
export function bandPlan(plan: Plan, band: Band): Plan {
  const own = plan.entries.filter((entry) => entry.band === band);
  const others = plan.entries.filter((entry) => entry.band !== band);
  return indexed(
    planWithin(plan.stage, own, { ...nobody, absent: plan.absent, otherBand: others }),
  );
}

/** The handlers that a dispatch over a plan does not call. */
type Others = Pick<Plan, 'absent' | 'otherBand' | 'unmatched'>;

const none: readonly Entry[] = Object.freeze([]);
const nobody: Others = Object.freeze({ absent: none, otherBand: none, unmatched: none });

/** The plan, with an index of its matches where it has any. */
function indexed(plan: Plan): Plan {
  const { stage, entries, absent, otherBand } = plan;
  if (entries.every(({ match }) => match.length === 0)) return plan;
  const index = new MatchIndex<Plan>(entries, (matching, unmatched) =>
    planWithin(stage, matching, { absent, otherBand, unmatched }),
  );
  return { ...plan, index };
}

function planWithin(stage: Stage, present: readonly Entry[], others: Others): Plan {
  const hasResolvers = present.some((entry) => entry.class === 'resolver');
  const settled = hasResolvers
    ? planOf(
        stage,
        present.filter((entry) => entry.class !== 'resolver'),
        others,
        undefined,
      )
    : undefined;
  return planOf(stage, present, others, settled);
}

/** The vetoes of a plan that judge an answered pass (judgement §4.5). */
export function vetoPlan(plan: Plan, vetoes: readonly Entry[]): Plan {
  return planOf(plan.stage, vetoes, plan, undefined);
}

/** A plan of some entries of another, in the same order: for judging again. */
export function subPlan(plan: Plan, entries: readonly Entry[]): Plan {
  return planOf(plan.stage, entries, nobody, undefined);
}

function planOf(
  stage: Stage,
  entries: readonly Entry[],
  { absent, otherBand, unmatched }: Others,
  settled: Plan | undefined,
): Plan {
  const firstVeto = entries.findIndex(judgesAgain);
  const lastChanger = entries.findLastIndex(
    ({ code }) => code === codes.mutator || code === codes.resolver,
  );
  return {
    stage,
    entries,
    handlers: entries.map((entry) => entry.handler),
    owns: entries.map((entry) => entry.own),
    codes: entries.map((entry) => entry.code),
    size: entries.length,
    absent,
    otherBand,
    unmatched,
    index: undefined,
    stageTimeoutMs: entries.reduce((sum, entry) => sum + entry.extendsMs, stage.stageTimeoutMs),
    mayGoStale: firstVeto >= 0 && firstVeto < lastChanger,
    hasResolvers: settled !== undefined,
    hasStrict: entries.some((entry) => entry.code === codes.strictVeto),
    settled,
  };
}

/** Tells whether an entry is a veto, which judges again what changes after it: also one that is audited. */
export function judgesAgain(entry: Entry): boolean {
  return isVeto(entry) || (entry.code === codes.audited && entry.class === 'veto');
}

/** Tells whether an entry is a veto that has an effect, strict or not. */
export function isVeto(entry: Entry): boolean {
  return entry.code === codes.veto || entry.code === codes.strictVeto;
}

function byCodeUnit(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
