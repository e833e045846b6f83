import type { MatchIndex } from '../../match/match-index.js';
import { type AnyHandler, codes, type Entry, type ResultCode } from '../../outcome/entry.js';
import type { Stage } from '../../stage/stage.js';
import { type Band, bands } from '../../stage/vocabulary.js';
import type { Services } from './services.js';

/**
 * The handlers of a family in run order. Made when contributions change, never on dispatch; replaced, never
 * edited, so that a dispatch in flight keeps the one it started with (spec §4.5).
 */
export interface Plan {
  /** The services of the kernel that it belongs to. */
  readonly services: Services;
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
  /** A veto stands before a mutator or resolver: only then can something change after it allowed. */
  readonly mayGoStale: boolean;
  readonly hasResolvers: boolean;
  /** A veto is among them whose silence is a failure. */
  readonly hasStrict: boolean;
  /** The same plan without resolvers, for a payload that names its target. */
  readonly settled: Plan | undefined;
}

/** Sorts by band, priority descending, extension id ascending, contribution id ascending, by code unit (spec §4.1). */
export function buildPlan(services: Services, stage: Stage, contributed: Iterable<Entry>): Plan {
  const { counters } = services;
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
  return indexed(planWithin({ services, stage, ...nobody, absent }, present));
}

/** The part of a plan that is of one band (spec §4.9). */
export function bandPlan(plan: Plan, band: Band): Plan {
  const own = plan.entries.filter((entry) => entry.band === band);
  const others = plan.entries.filter((entry) => entry.band !== band);
  return indexed(planWithin({ ...plan, otherBand: others, unmatched: none }, own));
}

/** The parts of a plan beside its handlers: its place, and the handlers that a dispatch over it does not call. */
type Frame = Pick<Plan, 'services' | 'stage' | 'absent' | 'otherBand' | 'unmatched'>;

const none: readonly Entry[] = Object.freeze([]);
const nobody = Object.freeze({ absent: none, otherBand: none, unmatched: none });

/** The plan, with an index of its matches where it has any. */
function indexed(plan: Plan): Plan {
  const { entries } = plan;
  const Index = plan.services.MatchIndex;
  if (Index === undefined || entries.every(({ traits }) => traits.conditions.length === 0))
    return plan;
  const index = new Index<Plan>(entries, (matching, unmatched) =>
    planWithin({ ...plan, unmatched }, matching),
  );
  return { ...plan, index };
}

function planWithin(frame: Frame, present: readonly Entry[]): Plan {
  const hasResolvers = present.some((entry) => entry.class === 'resolver');
  const others = present.filter((entry) => entry.class !== 'resolver');
  return planOf(frame, present, hasResolvers ? planOf(frame, others, undefined) : undefined);
}

/** The vetoes of a plan that judge an answered pass (judgement §4.5). */
export function vetoPlan(plan: Plan, vetoes: readonly Entry[]): Plan {
  return planOf(plan, vetoes, undefined);
}

/** A plan of some entries of another, in the same order: for judging again. */
export function subPlan(plan: Plan, entries: readonly Entry[]): Plan {
  return planOf({ ...plan, ...nobody }, entries, undefined);
}

function planOf(
  { services, stage, absent, otherBand, unmatched }: Frame,
  entries: readonly Entry[],
  settled: Plan | undefined,
): Plan {
  const firstVeto = entries.findIndex(judgesAgain);
  const lastChanger = entries.findLastIndex(
    ({ code }) => code === codes.mutator || code === codes.resolver,
  );
  return {
    services,
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
    stageTimeoutMs: entries.reduce((sum, entry) => sum + extendsMs(entry), stage.stageTimeoutMs),
    mayGoStale: firstVeto >= 0 && firstVeto < lastChanger,
    hasResolvers: settled !== undefined,
    hasStrict: entries.some((entry) => entry.code === codes.strictVeto),
    settled,
  };
}

/** Milliseconds by which a handler extends the budget of its stage: its own, where it or the operator set them (spec §10). */
function extendsMs({ code, budgetFrom, timeoutMs }: Entry): number {
  return budgetFrom === undefined || code === codes.audited ? 0 : timeoutMs;
}

/** Returns whether an entry is a veto, which judges again what changes after it: also one that is audited. */
export function judgesAgain(entry: Entry): boolean {
  return isVeto(entry) || (entry.code === codes.audited && entry.class === 'veto');
}

/** Returns whether an entry is a veto that has an effect, strict or not. */
export function isVeto(entry: Entry): boolean {
  return entry.code === codes.veto || entry.code === codes.strictVeto;
}

function byCodeUnit(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
