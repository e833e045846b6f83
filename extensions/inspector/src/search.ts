import {
  followJournal,
  type JournalReader,
  readWay,
  type WayKind,
  type WayRecord,
} from 'sluice/host';
import { type Row, rowOf } from './row.js';

type Reader = Pick<JournalReader, 'dispatches'>;

/** Every kind of fact. */
export const allKinds = [
  ...(['dispatch', 'audit', 'update', 'lane'] as const),
  ...(['question', 'send', 'attempt', 'gap'] as const),
] as const satisfies readonly WayKind[];

/** A search, newest first. */
export interface Query {
  /** Words, all of which must fit: `session:`, `family:`, `extension:`, `code:`, `kind:`, `status:`, `text:`, or an id. */
  readonly words: string;
  /** Only what is older than this record. */
  readonly before?: number;
  /** Texts may be searched. */
  readonly text: boolean;
}

/** Lines that fit, newest first, and where to go on. */
export interface Found {
  readonly rows: readonly Row[];
  /** Absent if there is nothing older. */
  readonly before?: number;
}

const readAtOnce = 500;
/** Records that one request looks through at most: the page asks again for more. */
const lookedAtMost = 10_000;
const rowsAtMost = 500;

/** Looks through a journal from its end. An id is looked up, and finds all of its message. */
export async function search(reader: Reader, { words, before, text }: Query): Promise<Found> {
  const terms = words.split(/\s+/).filter((word) => word !== '');
  const [id] = terms;
  if (terms.length === 1 && id !== undefined && !id.includes(':') && before === undefined) {
    const facts = await messageOf(reader, id);
    if (facts.length > 0) return { rows: facts.map(rowOf).reverse() };
  }
  const fits = terms.map((term) => fitOf(term, text));
  const rows: Row[] = [];
  let to = before ?? (await lastSeq(reader)) + 1;
  for (let looked = 0; to > 1 && looked < lookedAtMost && rows.length < rowsAtMost; ) {
    const from = Math.max(0, to - 1 - readAtOnce);
    const found: Row[] = [];
    let isThere = false;
    for await (const record of followJournal(reader, { from: String(from), follow: false })) {
      if (record.seq >= to) break;
      isThere ||= record.kind !== 'gap' || record.why !== 'gone';
      const row = rowOf(record);
      if (fits.every((isFit) => isFit(row, record))) found.push(row);
    }
    rows.push(...found.reverse());
    looked += to - from;
    to = isThere ? from + 1 : 0; // what is older is gone
  }
  return to > 1 ? { rows, before: to } : { rows };
}

/** The facts of a message, by its id or by that of any dispatch of it. */
export async function messageOf(reader: Reader, id: string): Promise<readonly WayRecord[]> {
  const [own] = await readWay(reader, { eventId: id, limit: 1 });
  const correlationId = own?.correlationId ?? id;
  return readWay(reader, { correlationId, limit: lookedAtMost });
}

async function lastSeq(reader: Reader): Promise<number> {
  const [last] = (await reader.dispatches({ kinds: allKinds, withinLast: 1 })).slice(-1);
  return last?.seq ?? 0;
}

type Fit = (row: Row, record: WayRecord) => boolean;

function fitOf(term: string, mayText: boolean): Fit {
  const [, key = '', value = ''] = /^(\w+):(.*)$/.exec(term) ?? [];
  const wanted = value.toLowerCase();
  const has = (text: string | undefined): boolean => text?.toLowerCase().includes(wanted) ?? false;
  switch (key) {
    case 'session':
      return (row) => has(row.sessionId);
    case 'family':
      return (row) => has(row.name);
    case 'extension':
      return (row, record) => has(row.who) || authorsOf(record).some(has);
    case 'code':
      return (row) => has(row.code);
    case 'kind':
      return (row) => row.kind === wanted;
    case 'status':
      return (row) => has(row.status);
    case 'text':
      return (_, record) => mayText && has(JSON.stringify(record));
    default:
      return (row) => row.id.startsWith(term) || row.correlationId.startsWith(term);
  }
}

function authorsOf(record: WayRecord): readonly string[] {
  if (record.kind !== 'dispatch') return [];
  const { changes, failures, steps, staleApprovals } = record.outcome;
  return [...changes, ...failures, ...steps, ...staleApprovals].map(
    ({ extensionId }) => extensionId ?? '',
  );
}
