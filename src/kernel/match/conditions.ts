import { kernelError } from '../errors.js';
import type { Traits } from '../outcome/entry.js';
import type { Condition, Match, MatchField, MatchScalar } from '../outcome/matching.js';
import type { Author } from '../outcome/outcome.js';
import type { Stage } from '../stage/stage.js';
import { didYouMean } from '../value/nearest.js';
import { isPlain } from '../value/plain.js';
import { isScalar, matchFields } from './match-fields.js';

/** Reads the matches of a contribution and of its operator. All conditions of both have to be met. */
export function matchTraits(
  given: unknown,
  operators: unknown,
  stage: Stage,
  author: Author,
): Pick<Traits, 'match' | 'operatorMatch' | 'conditions'> {
  const match = checkMatch(given, stage, author, 'contribution');
  const operatorMatch = checkMatch(operators, stage, author, 'operator');
  const conditions = [match, operatorMatch].flatMap((one) => conditionsOf(one, stage));
  return { match, operatorMatch, conditions };
}

/**
 * Checks a match against the schema of its stage, and reads it once.
 *
 * @param setBy the one who wrote it: the contribution, or the operator in its override.
 * @returns the match as data, frozen; nothing if no match is given, or one without fields.
 * @throws SluiceError `bad-match`, naming the field and the nearest that can be matched.
 */
export function checkMatch(
  given: unknown,
  stage: Stage,
  author: Author,
  setBy: 'contribution' | 'operator',
): Match | undefined {
  if (given === undefined) return undefined;
  const fields = matchFields(stage);
  const { extensionId, contributionId } = author;
  const refuse = (problem: string): never => {
    const whose = setBy === 'operator' ? 'the operator’s match' : 'its match';
    const named = [...fields.keys()].join(', ') || 'nothing';
    const who = { extensionId, contributionId, family: stage.family };
    throw kernelError('bad-match', { ...who, problem: `${whose} ${problem}`, fields: named });
  };
  if (typeof given !== 'object' || given === null || Array.isArray(given) || !isPlain(given))
    return refuse('must be an object');
  const match: Record<string, readonly MatchScalar[]> = {};
  for (const [key, value] of Object.entries(given)) {
    const field = fields.get(key);
    if (field === undefined) return refuse(whyNot(key, stage, fields));
    const values: readonly unknown[] = Array.isArray(value) ? [...value] : [value];
    if (values.length === 0) return refuse(`has an empty list for "${key}": it would never match`);
    const known = values.filter(isScalar);
    const odd = values.find((one) => !isScalar(one));
    if (known.length < values.length)
      return refuse(`has "${String(odd)}" for "${key}": give texts, numbers, true or false`);
    for (const one of known) {
      const problem = misfit(one, field);
      if (problem !== undefined)
        return refuse(`has ${JSON.stringify(one)} for "${key}": ${problem}`);
    }
    match[key] = Object.freeze(known);
  }
  return Object.keys(match).length === 0 ? undefined : Object.freeze(match);
}

function whyNot(key: string, stage: Stage, fields: ReadonlyMap<string, MatchField>): string {
  const [head = ''] = key.split('.');
  if (Object.hasOwn(stage.patch?.properties ?? {}, head))
    return `names "${key}", which a patch can change: judge it in the handler`;
  return `names "${key}", which is no field that it can compare${didYouMean(key, fields.keys())}`;
}

/** Why a value can never be there; nothing if it can. */
function misfit(value: MatchScalar, { types, values }: MatchField): string | undefined {
  if (typeof value === 'string' && /\*./s.test(value)) return 'a star stands only at the end';
  if (!types.some((type) => type === typeof value)) return `it is a ${types.join(' or a ')}`;
  if (values === undefined) return undefined;
  const prefix = prefixOf(value);
  if (prefix === undefined ? values.includes(value) : values.some((one) => begins(one, prefix)))
    return undefined;
  const texts = values.map(String);
  return `it is one of ${texts.join(', ')}${didYouMean(String(value), texts)}`;
}

/** The conditions of a checked match. */
export function conditionsOf(match: Match | undefined, stage: Stage): readonly Condition[] {
  if (match === undefined) return [];
  const fields = matchFields(stage);
  return Object.entries(match).flatMap(([key, listed]) => {
    const field = fields.get(key);
    if (field === undefined) return [];
    return [{ field, ...comparison(listed) }];
  });
}

/** The values and the prefixes of a list of them. */
export function comparison(listed: readonly MatchScalar[]): Pick<Condition, 'values' | 'prefixes'> {
  const prefixes = listed.flatMap((value) => prefixOf(value) ?? []);
  return { prefixes, values: new Set(listed.filter((value) => prefixOf(value) === undefined)) };
}

/**
 * Returns whether a value meets a condition. Texts are compared by code unit (judgement §2.2).
 *
 * @param unknownMeets the answer for a value that is not known.
 */
export function meets(
  {
    field,
    values,
    prefixes,
  }: Omit<Condition, 'field'> & { readonly field: Pick<MatchField, 'isList'> },
  value: unknown,
  unknownMeets: boolean,
): boolean {
  const one = (item: unknown): boolean =>
    values.has(item) || prefixes.some((prefix) => begins(item, prefix));
  if (field.isList && Array.isArray(value)) return value.some(one);
  return isUnknown(value) ? unknownMeets : one(value);
}

/** Returns whether a value is not known, so that no condition can be asked of it. */
function isUnknown(value: unknown): boolean {
  return value === undefined || !['string', 'number', 'boolean'].includes(typeof value);
}

function prefixOf(value: MatchScalar): string | undefined {
  return typeof value === 'string' && value.endsWith('*') ? value.slice(0, -1) : undefined;
}

function begins(value: unknown, prefix: string): boolean {
  return typeof value === 'string' && value.startsWith(prefix);
}
