import { entryKinds } from '../entry-kinds.js';
import type { DispatchRecord, JournalReader } from '../journal.js';
import { dispatchesTable } from '../rows/journal-rows.js';
import { proofOf } from './proof.js';
import {
  headOf,
  headsAt,
  type RecordStatement,
  readStatements,
  sortedStatements,
  statementIn,
} from './statements.js';
import type { Finding, RecordSource } from './verify-record.js';

/** The first line of a file that was exported. */
interface ExportHead {
  readonly kind: 'export';
  readonly version: 1;
  readonly isDense: boolean;
  /** The number of the checkpoint behind which its records begin. */
  readonly after: number;
  /** The number of statements that follow, each on a line. */
  readonly statements: number;
}

/** A line of such a file: its head, the statements, the records, and its end. */
export type ExportLine =
  | ExportHead
  | RecordStatement
  | (DispatchRecord & { readonly kind: 'record' })
  | { readonly kind: 'end'; readonly records: number };

type RecordReader = Pick<JournalReader, 'dispatches' | 'keyValues'>;

const page = 500;

/** Reads all records. Each page begins with the last of the page before, so that no other record with its number is passed over. */
export async function* recordsOf(
  reader: Pick<JournalReader, 'dispatches'>,
  from = 0,
): AsyncGenerator<DispatchRecord> {
  let last = from;
  for (let isMore = true, isFirst = true; isMore; isFirst = false) {
    const filter = { afterSeq: last - 1, limit: page, kinds: entryKinds };
    const some = await reader.dispatches(filter);
    yield* !isFirst && some[0]?.seq === last ? some.slice(1) : some;
    const next = some.at(-1)?.seq ?? last;
    isMore = some.length === page && (isFirst || next > last); // a page of one number is somebody's own work, and told
    last = next;
  }
}

/** The record of a journal, to be looked at. @param isDense the journal is in a file. */
export async function recordOf(reader: RecordReader, isDense: boolean): Promise<RecordSource> {
  return {
    statements: await readStatements(reader.keyValues),
    records: recordsOf(reader),
    isDense,
  };
}

/**
 * Gives the lines of a file that a third party can verify alone (record §5).
 *
 * @param sinceMs only records behind the last checkpoint before this time.
 */
export async function* exportRecord(
  reader: RecordReader,
  isDense: boolean,
  sinceMs = 0,
): AsyncGenerator<ExportLine> {
  const { cut, checkpoints, keys } = await readStatements(reader.keyValues);
  const from = checkpoints.findLast(({ atMs }) => atMs <= sinceMs) ?? cut;
  const after = from?.number ?? 0;
  const statements = [...keys, ...(cut ? [cut] : []), ...checkpoints];
  yield { kind: 'export', version: 1, isDense, after, statements: statements.length };
  yield* statements;
  const heads = headsAt({ cut, checkpoints }, after);
  let records = 0;
  for await (const record of recordsOf(reader, isDense ? from?.seq : 0)) {
    const proof = proofOf(record);
    if (proof === undefined || proof.number <= headOf(heads, proof.slot).number) continue;
    records++;
    yield lineOf(record);
  }
  yield { kind: 'end', records };
}

function lineOf(record: DispatchRecord): ExportLine {
  const { seq, eventId, family, correlationId, sessionId, status, occurredAtMs } = record;
  const { omitted, proof, body } = record;
  const about = { seq, eventId, family, correlationId, sessionId, status, occurredAtMs };
  return { kind: 'record', ...about, ...(omitted && { omitted }), ...(proof && { proof }), body };
}

/** Reads a file that was exported. @returns what to verify, and what is wrong with its lines as far as they were read. */
export async function readExport(
  lines: AsyncIterable<string>,
): Promise<{ readonly source: RecordSource; readonly findings: readonly Finding[] } | undefined> {
  const findings: Finding[] = [];
  const given = lines[Symbol.asyncIterator]();
  let line = 0;
  const next = async (): Promise<string | undefined> => {
    line++;
    return (await given.next()).value;
  };
  const head = headIn((await next()) ?? '');
  if (head === undefined) return undefined;
  const found: (RecordStatement | undefined)[] = [];
  while (found.length < head.statements) found.push(statementIn((await next()) ?? ''));
  const sorted = sortedStatements(found);
  const inOrder = [...sorted.keys, sorted.cut, ...sorted.checkpoints].filter(Boolean);
  const broken = found.flatMap((one, at) =>
    one === undefined || one !== inOrder[at] ? [`the statement on line ${at + 2}`] : [],
  );
  async function* records(): AsyncGenerator<DispatchRecord> {
    let count = 0;
    for (let text = await next(); text !== undefined; text = await next(), count++) {
      if (text === JSON.stringify({ kind: 'end', records: count }) && (await next()) === undefined)
        return;
      const record = recordIn(text);
      if (record !== undefined) yield record;
      else findings.push({ kind: 'changed', line, problem: 'this line is no record' });
    }
    const problem = 'the end of the file is missing, or is not at its end';
    findings.push({ kind: 'removed', line, problem });
  }
  const { isDense, after } = head;
  return {
    source: { statements: { ...sorted, broken }, records: records(), isDense, after },
    findings,
  };
}

function headIn(text: string): ExportHead | undefined {
  try {
    const { isDense, after, statements } = Object(JSON.parse(text));
    const head = { kind: 'export', version: 1, isDense, after, statements } as const;
    return JSON.stringify(head) === text && Number.isSafeInteger(statements) ? head : undefined;
  } catch {
    return undefined;
  }
}

function recordIn(text: string): DispatchRecord | undefined {
  try {
    const { kind: _, proof, ...fields } = Object(JSON.parse(text));
    const record = {
      ...dispatchesTable.record(dispatchesTable.row(fields)),
      ...(typeof proof === 'string' && { proof }),
    };
    return JSON.stringify(lineOf(record)) === text ? record : undefined;
  } catch {
    return undefined;
  }
}
