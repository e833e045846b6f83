import { getOrMake } from 'sluice-kernel/internal';
import type { DispatchRecord } from '../journal.js';
import { follows, type Head, type Proof, proofOf } from './proof.js';
import { isSigned, type Signed } from './record-key.js';
import {
  digestOfHeads,
  digestOfStatement,
  type HeadsStatement,
  headOf,
  headsAt,
  headsIn,
  type RecordStatements,
} from './statements.js';

/** A thing that is not as it was written, and where. */
export interface Finding {
  readonly kind: 'changed' | 'removed' | 'added' | 'moved' | 'checkpoint' | 'key';
  readonly problem: string;
  readonly slot?: number;
  /** Its number in the chain of its slot. */
  readonly number?: number;
  readonly eventId?: string;
  /** Its number in the journal. */
  readonly seq?: number;
  /** Its line, in a file that was exported. */
  readonly line?: number;
}

/** A record that is to be looked at. */
export interface RecordSource {
  readonly statements: RecordStatements;
  /** In the order of their numbers in the journal. */
  readonly records: AsyncIterable<DispatchRecord> | Iterable<DispatchRecord>;
  /** The journal is in a file: no number is left out, and each record proves its own. */
  readonly isDense: boolean;
  /** The number of the checkpoint behind which the records begin, if it is not that of the cut. */
  readonly after?: number;
}

/** The keys, and the checkpoints kept elsewhere, that count without a proof. */
export interface Trusted {
  readonly keys: readonly string[];
  readonly checkpoints: readonly Signed<HeadsStatement>[];
}

/** The end of a look at a record. */
export interface VerifiedRecord {
  /** Records that are in a chain. */
  readonly records: number;
  /** Those behind the last checkpoint: the last of them may be missing, and nobody could say so. */
  readonly unsigned: number;
  /** Those whose text was forgotten. What is left of it is not proven. */
  readonly forgotten: number;
  /** Rows from before the record began, or before its cut. */
  readonly before: number;
  readonly checkpoints: number;
  readonly findings: readonly Finding[];
  /** Sentences on what this look cannot say. */
  readonly notes: readonly string[];
}

const mostFindings = 1_000;

const other = 'a checkpoint names another record in its place: it or one before it was changed';

/** Looks at each record and each checkpoint of a record (record §4). It needs no host. */
export async function verifyRecord(
  source: RecordSource,
  trusted: Trusted,
): Promise<VerifiedRecord> {
  const findings: Finding[] = [];
  const notes: string[] = [];
  const find = (one: Finding): void => {
    if (findings.length < mostFindings) findings.push(one);
  };
  const { cut, checkpoints } = source.statements;
  const good = checkStatements(source.statements, trusted, find, notes);
  const after = source.after ?? cut?.number ?? 0;
  if (after > (cut?.number ?? 0))
    notes.push(`it begins behind checkpoint ${after}: nothing is said of the records before`);
  const from = good.find(({ number }) => number === after) ?? cut;
  const heads = headsAt({ cut, checkpoints: good }, after);
  const signed = new Map<number, Head[]>();
  for (const one of [...good, ...trusted.checkpoints])
    for (const [slot, head] of one.number > after ? headsIn(one) : [])
      getOrMake(signed, slot, () => []).push(head);
  for (const all of signed.values()) all.sort((one, other) => one.number - other.number);
  const chains = chainsFrom(new Map(heads), signed, source.isDense, find);
  const counts = { records: 0, unsigned: 0, forgotten: 0, before: 0 };
  const fromSeq = from?.seq ?? 0;
  let lastSeq = fromSeq;
  for await (const record of source.records) {
    const { seq } = record;
    const proof = proofOf(record);
    const about = { seq, eventId: record.eventId };
    const isOld = seq <= fromSeq && source.after === undefined;
    if (isOld && (proof === undefined || proof.number <= headOf(heads, proof.slot).number)) {
      counts.before++;
      continue;
    }
    if (source.isDense ? seq !== lastSeq + 1 : seq <= lastSeq)
      find({ ...about, kind: 'moved', problem: `it has the number ${seq} behind ${lastSeq}` });
    lastSeq = seq;
    if (proof === undefined) {
      const kind = record.proof === undefined ? 'added' : 'changed';
      find({ ...about, kind, problem: 'it has no proof: it is in no chain' });
      continue;
    }
    counts.records++;
    if (proof.salt === undefined) counts.forgotten++;
    if (chains.take(record, proof)) counts.unsigned++;
  }
  chains.end();
  return { ...counts, checkpoints: checkpoints.length, findings, notes };
}

/** Follows the chain of each slot, and compares it with the heads that were signed. */
function chainsFrom(
  heads: Map<number, Head>,
  signed: ReadonlyMap<number, Head[]>,
  isDense: boolean,
  find: (one: Finding) => void,
) {
  const removed = (slot: number, number: number, last: number): void => {
    const problem =
      number === last ? 'it is missing' : `the records up to number ${last} are missing`;
    find({ kind: 'removed', slot, number, problem });
  };
  /** @returns whether no checkpoint has it. */
  function take(record: DispatchRecord, proof: Proof): boolean {
    const { slot, number, digest } = proof;
    const before = headOf(heads, slot);
    const waiting = signed.get(slot) ?? [];
    const isUnsigned = (waiting.at(-1)?.number ?? 0) < number;
    const told = (kind: Finding['kind'], problem: string): void =>
      find({ kind, problem, slot, number, eventId: record.eventId, seq: record.seq });
    if (number <= before.number) {
      told('moved', `it stands behind number ${before.number} of its slot`);
      return false;
    }
    const isNext = number === before.number + 1;
    // hosts that go on writing meanwhile may have kept one that was not there yet when its place was read
    if (!isNext && (isDense || !isUnsigned)) removed(slot, before.number + 1, number - 1);
    else if (isNext && !follows(record, proof, before, isDense ? record.seq : null))
      told('changed', 'it, or the one before it, is not as it was written');
    for (; (waiting[0]?.number ?? number + 1) <= number; waiting.shift())
      if (waiting[0]?.number === number && waiting[0].digest !== digest) told('changed', other);
    heads.set(slot, { number, digest });
    return isUnsigned;
  }
  /** Tells of records that are missing at the ends of the chains, though a checkpoint names them. */
  function end(): void {
    for (const [slot, waiting] of signed) {
      const last = waiting.at(-1)?.number ?? 0;
      const { number } = headOf(heads, slot);
      if (last > number) removed(slot, number + 1, last);
    }
  }
  return { take, end };
}

/** Checks the signatures of statements, and that none is missing. @returns the checkpoints that are good. */
function checkStatements(
  { cut, checkpoints, keys, broken }: RecordStatements,
  trusted: Trusted,
  find: (one: Finding) => void,
  notes: string[],
): readonly Signed<HeadsStatement>[] {
  const ids = new Set([...trusted.keys, ...trusted.checkpoints.map(({ key }) => key)]);
  const oldest = keys.find(({ key }) => keys.every(({ next }) => next !== key)) ?? cut;
  if (ids.size === 0) {
    ids.add(oldest?.key ?? '');
    notes.push(
      'no key and no checkpoint from elsewhere was given: whoever can write to the journal may have made all of it anew',
    );
  }
  for (const _ of keys)
    for (const one of keys) if (ids.has(one.key) && isSigned(one)) ids.add(one.next);
  const isGood = (one: Signed): boolean => ids.has(one.key) && isSigned(one);
  const bad = 'it is not as it was signed, or the key of another host has signed it';
  for (const name of broken) find({ kind: 'checkpoint', problem: `${name} cannot be read` });
  for (const one of keys)
    if (!isGood(one)) find({ kind: 'key', problem: `the statement on key ${one.next}: ${bad}` });
  if (cut === undefined) {
    find({ kind: 'checkpoint', problem: 'the beginning of the record is missing' });
    return [];
  }
  if (!isGood(cut))
    find({ kind: 'checkpoint', problem: `the cut at checkpoint ${cut.number}: ${bad}` });
  const proves = checkpoints.find((one) => one.number === cut.number);
  const isProven =
    cut.number === 0
      ? cut.heads.length === 0
      : proves?.all === digestOfHeads(headsIn(cut)) &&
        proves.seq === cut.seq &&
        digestOfStatement(proves) === cut.before;
  if (!isProven)
    find({ kind: 'checkpoint', problem: `the cut is not that of checkpoint ${cut.number}` });
  let { number, before } = cut;
  const digests = new Map([[number, before]]);
  const good = checkpoints.filter((one) => {
    if (one.number <= cut.number) return false; // one that the cut has overtaken
    const name = `checkpoint ${one.number}`;
    if (one.number !== number + 1)
      find({ kind: 'checkpoint', problem: `those before ${name} are missing` });
    else if (one.before !== before)
      find({ kind: 'checkpoint', problem: `${name} does not follow checkpoint ${number}` });
    if (!isGood(one)) find({ kind: 'checkpoint', problem: `${name}: ${bad}` });
    ({ number } = one);
    before = digestOfStatement(one);
    digests.set(number, before);
    return true;
  });
  for (const kept of trusted.checkpoints) {
    const name = `checkpoint ${kept.number}, which is kept elsewhere`;
    const is = digests.get(kept.number);
    if (kept.number < cut.number)
      notes.push(`${name}, is of records that are gone by now: take a newer one`);
    else if (is === undefined) find({ kind: 'checkpoint', problem: `${name}, is missing here` });
    else if (is !== digestOfStatement(kept))
      find({ kind: 'checkpoint', problem: `${name}, is another one here` });
    if (!isSigned(kept)) find({ kind: 'checkpoint', problem: `${name}: ${bad}` });
  }
  if (trusted.checkpoints.length === 0)
    notes.push(
      'no checkpoint from elsewhere was given: records may be missing at the end, with the checkpoints that name them',
    );
  return good;
}
