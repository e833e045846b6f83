import { kernelError } from '../errors.js';
import type { Stage } from '../stage/stage.js';
import { type Band, bands, type Gate } from '../stage/vocabulary.js';
import { freezePlain } from '../value/freeze.js';
import { type Envelope, refFields } from './envelope.js';
import type { FamilyName, SelectionOf } from './families.js';
import type { AnsweredAsker, Outcome } from './outcome.js';
import { type Principal, takePrincipal } from './principal.js';

/**
 * The options of a dispatch beside its payload: the envelope's refs, and how to run. It belongs to the dispatch
 * from then on, as the payload does (spec §1).
 *
 * @example
 * await kernel.dispatch('routing.resolving', payload, { after: normalized, signal });
 */
export interface Given<F extends FamilyName = FamilyName>
  extends Partial<Omit<Envelope, 'family' | 'payload' | 'hotPath'>> {
  /** The dispatch before: its refs, correlation and annotations go on. */
  readonly after?: Outcome;
  /** An id made elsewhere, such as one derived from a provider's update id. */
  readonly eventId?: string;
  /** Milliseconds since 1970. */
  readonly occurredAt?: number;
  /** On whose behalf, as a channel has proven it; `null` clears the one of `after` (judgement §1.2). */
  readonly principal?: Principal | null;
  /** `observe-only` where the source cannot be changed: a cancel or patch is then a failure entry. */
  readonly gate?: Gate;
  /** Runs the handlers of one band only; the others are skipped as `other-band` (spec §4.9). */
  readonly band?: Band;
  /**
   * Makes it an answered pass: the vetoes alone judge the payload as it is, and a question of one of these is no objection. `after` is
   * the outcome that asked; its selection stands (judgement §4.5).
   */
  readonly answered?: readonly AnsweredAsker[];
  /** Aborts the dispatch: what runs is told, what has not run does not. */
  readonly signal?: Pick<AbortSignal, 'aborted' | 'reason' | `${'add' | 'remove'}EventListener`>;
  /** The host's predicate over candidates: `true`, or why not (spec §9). */
  readonly valid?: (target: SelectionOf<F>) => true | string;
}

/** The data that a kernel took last, by its field. It is frozen: given again, as along a trail, it needs no second look. */
export type TakenData = Partial<Record<(typeof dataFields)[number], object | null>>;

const dataFields = ['metadata', 'providerMetadata', ...refFields] as const;

/**
 * Takes ownership of what a dispatch was given, as of its payload (spec §1.5).
 *
 * @param taken is brought up to date.
 * @throws SluiceError `bad-given`, naming the field.
 */
export function takeGiven(stage: Stage, given: Given, taken: TakenData): void {
  const refuse = (field: string, problem: string): never => {
    throw kernelError('bad-given', { family: stage.family, field, problem });
  };
  Object.freeze(given);
  for (const field of dataFields) {
    const value = given[field];
    if (value === undefined || value === taken[field]) continue;
    if (field === 'metadata' || field === 'providerMetadata') {
      const problem = freezePlain(value as object, []); // null, which JavaScript may give, is refused
      if (problem !== undefined) refuse(`${field}${problem.path}`, problem.problem);
    } else if (value !== null) Object.freeze(value);
    taken[field] = value;
  }
  if (given.principal !== undefined && given.principal !== null) {
    const unfit = takePrincipal(given.principal);
    if (unfit !== undefined) refuse(unfit.field, unfit.problem);
  }
  if (given.answered !== undefined) {
    if (!stage.asks) refuse('answered', 'its vetoes cannot ask');
    if (!Array.isArray(given.answered) || !given.answered.every(isAuthor))
      refuse('answered', 'it must be a list of authors');
  }
  if (given.band !== undefined && !bands.includes(given.band))
    refuse('band', `it must be one of ${bands.join(', ')}`);
  if (given.occurredAt !== undefined && !Number.isFinite(given.occurredAt))
    refuse('occurredAt', 'it must be milliseconds since 1970');
}

function isAuthor(value: unknown): boolean {
  const {
    extensionId,
    contributionId,
    how = '',
  }: { readonly [Key in keyof AnsweredAsker]?: unknown } = Object(value);
  return [extensionId, contributionId, how].every((field) => typeof field === 'string');
}

/** Returns whether a dispatch was given something that is checked also if nobody hears it: data, or a principal. */
export function hasUnchecked({ metadata, providerMetadata, principal }: Given): boolean {
  return metadata !== undefined || providerMetadata !== undefined || principal !== undefined;
}
