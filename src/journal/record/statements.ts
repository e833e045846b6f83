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
  /** The digest of all heads. So a cut proves its heads by a checkpoint that a later one names. */
  readonly all: string;
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

/** The heads at a checkpoint, or at the cut. */
export function headsAt(
  { cut, checkpoints }: Pick<RecordStatements, 'cut' | 'checkpoints'>,
  last: number,
): Map<number, Head> {
  const before = checkpoints.filter(({ number }) => number <= last);
  return new Map([cut, ...before].flatMap((one) => (one ? [...headsIn(one)] : [])));
}

export const headOf = (heads: ReadonlyMap<number, Head>, slot: number): Head =>
  heads.get(slot) ?? noHead;

export const listed = (heads: ReadonlyMap<number, Head>): HeadsStatement['heads'] =>
  [...heads]
    .sort(([one], [other]) => one - other)
    .map(([slot, { number, digest }]) => [slot, number, digest] as const);

export const digestOfHeads = (heads: ReadonlyMap<number, Head>): string =>
  hash('sha256', canonicalJson(listed(heads)), 'base64url');

const fieldsOf: Readonly<Record<string, string>> = {
  checkpoint: 'all,atMs,before,heads,key,kind,number,seq,signature',
  cut: 'all,atMs,before,heads,key,kind,number,seq,signature',
  key: 'atMs,key,kind,next,signature',
};

/** Reads a statement from JSON; `undefined` if it is none. Each text of JSON says another thing, or is none. */
export function statementIn(json: string): RecordStatement | undefined {
  try {
    const value: unknown = JSON.parse(json);
    const { kind, heads = [], number = 0 } = Object(value);
    const fits =
      fieldsOf[String(kind)] === Object.keys(Object(value)).sort().join() &&
      [number, ...heads.map(([slot, nth]: readonly number[]) => slot ?? nth)].every(
        Number.isSafeInteger,
      ) &&
      JSON.stringify(value) === json;
    return fits ? (value as RecordStatement) : undefined; // the others of its fields are those that were signed
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
    const one = statementIn(body);
    const name = one?.kind === 'checkpoint' ? checkpointKey(one.number) : one?.kind;
    if (one === undefined || !key.startsWith(String(name))) broken.push(key);
    else found.push(one);
  }
  return sortedStatements(found, broken);
}

/** A place in a record: the last checkpoint, or the cut, and all heads there. */
export interface Place extends Pick<HeadsStatement, 'number' | 'seq'> {
  readonly digest: string;
  readonly heads: ReadonlyMap<number, Head>;
}

export const placeOf = (cut: HeadsStatement | undefined): Place =>
  cut === undefined
    ? { number: 0, seq: 0, digest: '', heads: new Map() }
    : { number: cut.number, seq: cut.seq, digest: cut.before, heads: headsIn(cut) };

export const placeBehind = ({ heads }: Place, one: Signed<HeadsStatement>): Place => ({
  ...{ number: one.number, seq: one.seq, digest: digestOfStatement(one) },
  heads: headsIn(one, heads),
});

/** Reads the cut of a journal, with its version there. */
export async function readCut(values: KeyValueReader) {
  const kept = await values.get(recordNamespace, 'cut');
  const cut = kept && statementIn(kept.body);
  return kept && cut?.kind === 'cut' ? { ...cut, version: kept.version } : undefined;
}

/** Reads on up to the last checkpoint: another host may have made one since. @param known a place that was read before. */
export async function newestPlace(values: KeyValueReader, known?: Place): Promise<Place> {
  const cut = placeOf(await readCut(values));
  let place = known !== undefined && known.number >= cut.number ? known : cut;
  for await (const { key, body } of recordValues(
    values,
    'checkpoint/',
    checkpointKey(place.number),
  )) {
    const number = Number(key.slice('checkpoint/'.length));
    const one = statementIn(body);
    if (one?.kind === 'checkpoint' && one.number === number) place = placeBehind(place, one);
    else if (number > place.number) place = { ...place, number, digest: '' }; // its number is taken, whatever it says
  }
  return place;
}
