import { hash } from 'node:crypto';
import type { KeyValueReader } from '@sluice/sdk/extension';
import { canonicalJson } from './canonical-json.js';
import { type Head, noHead } from './proof.js';
import type { Signed } from './record-key.js';

/** The namespace of what a journal keeps about its record, beside the records. */
export const recordNamespace = '/record';

/**
 * A statement about chains. A `checkpoint` names the head of each chain that has grown since the checkpoint before. A `cut` names all
 * heads as they were at a checkpoint: the records up to there may be gone.
 */
export interface HeadsStatement {
  readonly kind: 'checkpoint' | 'cut';
  /** The number of the checkpoint: they count from 1. A cut of 0 is the beginning of the record. */
  readonly number: number;
  /** The digest of the checkpoint before; of a cut, the digest of its checkpoint. */
  readonly before: string;
  readonly atMs: number;
  /** The number of the last row of the journal. */
  readonly seq: number;
  readonly heads: readonly (readonly [slot: number, number: number, digest: string])[];
}

/** A statement that another key signs from now on. The key before has signed it. */
export interface KeyStatement {
  readonly kind: 'key';
  readonly next: string;
  readonly atMs: number;
}

/** A statement as a journal keeps it. */
export type RecordStatement = Signed<HeadsStatement> | Signed<KeyStatement>;

/** All statements of a record. */
export interface RecordStatements {
  readonly cut: Signed<HeadsStatement> | undefined;
  /** In the order of their numbers. */
  readonly checkpoints: readonly Signed<HeadsStatement>[];
  readonly keys: readonly Signed<KeyStatement>[];
  /** The names of what is no statement. */
  readonly broken: readonly string[];
}

/** The digest by which the next checkpoint names this one. */
export function digestOfStatement({ signature: _, ...said }: RecordStatement): string {
  return hash('sha256', canonicalJson(said), 'base64url');
}

export const checkpointKey = (number: number): string =>
  `checkpoint/${String(number).padStart(10, '0')}`;

/** The heads of a statement by their slots, put over others. */
export function headsIn(
  { heads }: Pick<HeadsStatement, 'heads'>,
  before: ReadonlyMap<number, Head> = new Map(),
): Map<number, Head> {
  const all = new Map(before);
  for (const [slot, number, digest] of heads) all.set(slot, { number, digest });
  return all;
}

export const headOf = (heads: ReadonlyMap<number, Head>, slot: number): Head =>
  heads.get(slot) ?? noHead;

export const listed = (heads: ReadonlyMap<number, Head>): HeadsStatement['heads'] =>
  [...heads].map(([slot, { number, digest }]) => [slot, number, digest] as const);

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isText = (value: unknown): boolean => typeof value === 'string';
const shared = { atMs: isCount, key: isText, signature: isText };
const aboutHeads = {
  ...{ ...shared, number: isCount, seq: isCount, before: isText },
  heads: (value: unknown): boolean =>
    Array.isArray(value) &&
    value.every(
      (one) =>
        Array.isArray(one) && one.length === 3 && one.slice(0, 2).every(isCount) && isText(one[2]),
    ),
};
const shapes: Readonly<Record<string, Readonly<Record<string, (value: unknown) => boolean>>>> = {
  ...{ checkpoint: aboutHeads, cut: aboutHeads },
  key: { ...shared, next: isText },
};

/** Reads a statement from JSON; `undefined` if it is none. Each text of JSON says another thing, or is none. */
export function statementIn(json: string): RecordStatement | undefined {
  try {
    const value: unknown = JSON.parse(json);
    const fields = Object.entries(Object(value));
    const shape = { ...shapes[String(Object(value).kind)], kind: isText };
    const isWhole = fields.length === Object.keys(shape).length && fields.length > 1;
    if (!isWhole || JSON.stringify(value) !== json) return undefined;
    const fits = Object.entries(shape).every(([name, is]) => is(Reflect.get(Object(value), name)));
    return fits ? (value as RecordStatement) : undefined; // each of its fields was checked
  } catch {
    return undefined;
  }
}

const page = 50;

/** Reads the values of a record from one name on, a few at a time. */
export async function* recordValues(values: KeyValueReader, prefix: string, after = '') {
  for (let last: string | undefined = after; last !== undefined; ) {
    const some = await values.list(recordNamespace, { prefix, after: last, limit: page });
    yield* some;
    last = some.length < page ? undefined : some.at(-1)?.key;
  }
}

/** Sorts statements by their kinds. */
export function sortedStatements(
  given: readonly (RecordStatement | undefined)[],
  broken: readonly string[] = [],
): RecordStatements {
  const ofKind = (kind: HeadsStatement['kind']) =>
    given.filter((one): one is Signed<HeadsStatement> => one?.kind === kind);
  return {
    cut: ofKind('cut').at(-1),
    checkpoints: ofKind('checkpoint'),
    keys: given.filter((one): one is Signed<KeyStatement> => one?.kind === 'key'),
    broken,
  };
}

/** Reads all statements of a journal. */
export async function readStatements(values: KeyValueReader): Promise<RecordStatements> {
  const found: (RecordStatement | undefined)[] = [];
  const broken: string[] = [];
  for await (const { key, body } of recordValues(values, '')) {
    if (key === 'heads') continue; // a host goes on from them; they say nothing that is signed
    const one = statementIn(body);
    const name = one?.kind === 'checkpoint' ? checkpointKey(one.number) : one?.kind;
    if (one === undefined || !key.startsWith(String(name))) broken.push(key);
    else found.push(one);
  }
  return sortedStatements(found, broken);
}
