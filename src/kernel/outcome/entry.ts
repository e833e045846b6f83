import type { Band, FailPolicy, HandlerClass, HandlerMode } from '../stage/vocabulary.js';
import type { Condition, Match } from './matching.js';
import type { Author } from './outcome.js';

/** A handler as the loops call it: the types of its family are checked where it is contributed. */
export type AnyHandler = (call: unknown, own: unknown) => unknown;

/** The way a loop treats a handler's result, as a small integer. */
export const codes = {
  observer: 0,
  detached: 1,
  augmenter: 2,
  mutator: 3,
  veto: 4,
  /** A veto whose silence is a failure. */
  strictVeto: 5,
  resolver: 6,
  /** Called without effect: its result is taken elsewhere (judgement §3). */
  audited: 7,
} as const;

/** One of the codes. */
export type ResultCode = (typeof codes)[keyof typeof codes];

/** The traits of an entry that few have: the others share one object, since a gateway has many. */
export interface Traits {
  readonly recheck: boolean;
  /** Parts of a stream may be shown before it has judged the whole. */
  readonly previewOk: boolean;
  readonly mode: HandlerMode;
  /** All of them have to be met: those of the contribution, and those of the operator. Empty if it has no match. */
  readonly conditions: readonly Condition[];
  /** The conditions as they were written. */
  readonly match: Match | undefined;
  readonly operatorMatch: Match | undefined;
  /** A value that is not known meets its conditions: it is fail-closed (judgement §2.3). */
  readonly unknownMatches: boolean;
  /** Trusted fields of the family that its extension may set. */
  readonly grants: readonly string[];
}

/** The traits of most entries. */
export const usualTraits: Traits = Object.freeze({
  recheck: true,
  previewOk: false,
  mode: 'enforce',
  conditions: Object.freeze([]),
  match: undefined,
  operatorMatch: undefined,
  unknownMatches: false,
  grants: Object.freeze([]),
});

/** A contribution as it was registered, with what the stage and the operator make of it. Never changes. */
export interface Entry extends Author {
  readonly family: string;
  readonly class: HandlerClass;
  readonly band: Band;
  readonly priority: number;
  /** Milliseconds it may take. */
  readonly timeoutMs: number;
  /** The one who set that, if it is not the stage. */
  readonly budgetFrom: 'handler' | 'operator' | undefined;
  readonly code: ResultCode;
  /** The effect of its failure. */
  readonly policy: FailPolicy;
  readonly traits: Traits;
  /** Why it is in no plan, where it is not. */
  readonly absent: 'disabled' | 'quarantined' | undefined;
  /** The audited entry that this entry replaces in plans. */
  readonly standsFor: Entry | undefined;
  readonly handler: AnyHandler;
  readonly own: object;
}

/** How a contribution is named in texts. */
export function nameOf(author: Author): string {
  return `${author.extensionId}/${author.contributionId}`;
}

/** The ids of an author, and nothing else. */
export function authorOf(author: Author): Author {
  return { extensionId: author.extensionId, contributionId: author.contributionId };
}

/** The same of what may be of the stage itself, which has no name. */
export function ownerOf({ extensionId, contributionId }: Partial<Author>): string | undefined {
  if (extensionId === undefined || contributionId === undefined) return undefined;
  return nameOf({ extensionId, contributionId });
}

/** Returns whether two are of one contribution. */
export function isOf(author: Partial<Author> | undefined, other: Author): boolean {
  const { extensionId, contributionId } = other;
  return author?.extensionId === extensionId && author.contributionId === contributionId;
}
