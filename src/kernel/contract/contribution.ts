import { kernelError } from '../errors.js';
import type { matchTraits } from '../match/conditions.js';
import {
  type AnyHandler,
  codes,
  type Entry,
  type ResultCode,
  usualTraits,
} from '../outcome/entry.js';
import type { MatchScalar } from '../outcome/matching.js';
import { ContributionOwn } from '../run/services/own.js';
import type { Logger } from '../stage/ports.js';
import { judgesStreams, type Stage } from '../stage/stage.js';
import {
  type HandlerClass,
  type HandlerMode,
  handlerClasses,
  handlerModes,
} from '../stage/vocabulary.js';
import { didYouMean } from '../value/nearest.js';

/** An operator's changes to a contribution, by `extension/contribution`. */
export interface Override {
  /** Leaves it out of every plan; outcomes list it as skipped. */
  readonly disabled?: boolean;
  readonly priority?: number;
  /** Milliseconds it may take. */
  readonly timeoutMs?: number;
  /** `audit` calls it without effect, and tells the tap of its verdict (judgement §3). By default `enforce`. */
  readonly mode?: HandlerMode;
  /** Conditions beside those of the contribution: it is called only where all of them are met (judgement §2.4). */
  readonly match?: Readonly<Record<string, MatchScalar | readonly MatchScalar[]>>;
}

/** A contribution as it comes in, before it is checked. */
export interface RawContribution {
  readonly family: string;
  readonly class: HandlerClass;
  readonly extensionId: string;
  readonly id: string;
  readonly handler: unknown;
  readonly priority?: number;
  readonly timeoutMs?: number;
  readonly failClosed?: boolean;
  readonly recheck?: boolean;
  readonly preview?: 'ok';
  readonly detached?: boolean;
  readonly band?: 'last';
  readonly match?: unknown;
  readonly mode?: HandlerMode;
}

const contributionKeys: readonly string[] = [
  'family',
  'class',
  'extensionId',
  'id',
  'handler',
  'priority',
  'timeoutMs',
  'failClosed',
  'recheck',
  'preview',
  'detached',
  'band',
] satisfies (keyof RawContribution)[];

const operatorKeys: readonly string[] = ['match', 'mode'] satisfies (keyof RawContribution)[];

/** The part of a kernel's operator in a contribution. */
export interface OperatorShare {
  readonly override: Override;
  /** Trusted fields of the family that its extension may set. */
  readonly grants: readonly string[];
  /** Reads the matches; absent where a contribution has neither a match nor a mode. */
  readonly matches: typeof matchTraits | undefined;
}

const idPattern = /^[^\s/\p{Cc}]+$/u;
const extensionPattern = /^[^\s\p{Cc}]+$/u;

/** Checks a contribution against its stage, and makes the entry that plans are built from (spec §3). */
export function entryOf(
  given: RawContribution,
  stage: Stage,
  stages: Iterable<Stage>,
  { override, grants, matches }: OperatorShare,
  logger: Logger,
): Entry {
  const who = {
    extensionId: String(given.extensionId),
    contributionId: String(given.id),
    family: stage.family,
  };
  const refuse = (problem: string): never => {
    throw kernelError('bad-contribution', { ...who, problem });
  };
  const keys = matches === undefined ? contributionKeys : [...contributionKeys, ...operatorKeys];
  for (const key of Object.keys(given))
    if (!keys.includes(key)) refuse(`it has no field "${key}"${didYouMean(key, keys)}`);
  if (typeof given.extensionId !== 'string' || !extensionPattern.test(given.extensionId))
    refuse('extensionId must be a name without spaces');
  if (typeof given.id !== 'string' || !idPattern.test(given.id))
    refuse('id must be a name without spaces or slashes');
  if (!handlerClasses.includes(given.class))
    refuse(`class must be one of ${handlerClasses.join(', ')}, and it is "${String(given.class)}"`);
  if (!stage.classes.includes(given.class))
    throw kernelError('class-not-allowed', {
      ...who,
      class: given.class,
      allowed: stage.classes.join(', '),
      stages: [...stages]
        .filter(({ classes }) => classes.includes(given.class))
        .map(({ family }) => family)
        .join(', '),
    });
  if (typeof given.handler !== 'function') refuse('handler must be a function');
  if (stage.mode === 'sync-sequential' && isAsyncFunction(given.handler))
    throw kernelError('async-handler', who);
  const { priority = 0, timeoutMs = 1 } = given;
  if (!Number.isFinite(priority))
    refuse(`priority must be a finite number, and it is ${String(priority)}`);
  if (!(Number.isFinite(timeoutMs) && timeoutMs > 0))
    refuse(`timeoutMs must be a positive number of milliseconds, and it is ${String(timeoutMs)}`);
  if (given.failClosed !== undefined && given.class === 'observer')
    refuse('failClosed is for a handler with an effect');
  if (given.recheck !== undefined && given.class !== 'veto') refuse('recheck is for a veto');
  if (given.detached !== undefined && given.class !== 'observer')
    refuse('detached is for an observer');
  if (given.preview !== undefined) checkPreview(given, stage, stages, refuse);
  if (given.band !== undefined && given.band !== 'last') refuse('band can only be "last"');
  const ownMs = override.timeoutMs ?? given.timeoutMs;
  const closed =
    given.failClosed === true || (given.class === 'veto' && stage.onError.veto === 'closed');
  if (given.mode !== undefined && !handlerModes.includes(given.mode))
    refuse(`mode must be one of ${handlerModes.join(', ')}, and it is "${String(given.mode)}"`);
  const mode = override.mode ?? given.mode ?? 'enforce';
  if (mode === 'audit' && given.class === 'observer')
    refuse('an observer has no effect to hold back: disable it');
  const matched = matches?.(given.match, override.match, stage, who);
  const isUsual = given.recheck !== false && given.preview === undefined && mode === 'enforce';
  return {
    extensionId: given.extensionId,
    contributionId: given.id,
    family: stage.family,
    class: given.class,
    band: given.band ?? 'main',
    priority: override.priority ?? priority,
    timeoutMs: ownMs ?? stage.timeoutMs,
    budgetFrom: budgetFrom(given.timeoutMs, override.timeoutMs),
    code: codeOf(given, closed),
    // §9.5: a resolver that fails proposes nothing; what no candidate does is the stage's to say
    policy: closed ? 'closed' : plainPolicy(stage, given.class),
    traits:
      isUsual && !matched?.conditions.length && grants.length === 0
        ? usualTraits
        : {
            ...usualTraits,
            ...matched,
            recheck: given.recheck ?? true,
            previewOk: given.preview === 'ok',
            mode,
            unknownMatches: closed,
            grants,
          },
    absent: override.disabled === true ? 'disabled' : undefined,
    standsFor: undefined,
    handler: given.handler as AnyHandler,
    own: new ContributionOwn(given.extensionId, given.id, logger),
  };
}

function budgetFrom(handlerMs: number | undefined, operatorMs: number | undefined) {
  if (operatorMs !== undefined) return 'operator'; // who has the last word
  return handlerMs === undefined ? undefined : 'handler';
}

/** §14.7: a handler that judges or changes a streamed text may let parts of it be shown before. No other handler can. */
function checkPreview(
  given: RawContribution,
  stage: Stage,
  stages: Iterable<Stage>,
  refuse: (problem: string) => never,
): void {
  if (given.preview !== 'ok') refuse(`preview can only be "ok", and it is "${given.preview}"`);
  if (given.class !== 'veto' && given.class !== 'mutator')
    refuse('preview is for a veto or a mutator');
  if (judgesStreams(stage)) return;
  const named = [...stages].filter(judgesStreams).map(({ family }) => family);
  refuse(`preview is for a stage that judges streams: ${named.join(', ') || 'there is none'}`);
}

function plainPolicy(stage: Stage, name: HandlerClass): Entry['policy'] {
  return name === 'resolver' || name === 'veto' ? 'open' : stage.onError[name];
}

function codeOf(given: RawContribution, closed: boolean): ResultCode {
  if (given.class === 'observer') return given.detached === true ? codes.detached : codes.observer;
  if (given.class === 'veto') return closed ? codes.strictVeto : codes.veto;
  return codes[given.class];
}

function isAsyncFunction(handler: unknown): boolean {
  const name = Object.prototype.toString.call(handler);
  return name === '[object AsyncFunction]' || name === '[object AsyncGeneratorFunction]';
}
