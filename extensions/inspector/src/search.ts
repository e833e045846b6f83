import pLimit from 'p-limit';
import {
  type EntryKind,
  followJournal,
  type JournalReader,
  readTimeline,
  type TimelineEntry,
} from 'sluice/host';
import { lineOf, type Message, messageOf, payloadOf } from './message.js';
import { RequestProblem } from './problem.js';
import { type Row, rowOf } from './row.js';

type Reader = Pick<JournalReader, 'dispatches'>;

/** Every kind of entry. */
export const allKinds = [
  ...(['dispatch', 'audit', 'update', 'lane'] as const),
  ...(['question', 'send', 'attempt', 'gap'] as const),
] as const satisfies readonly EntryKind[];

/** A search, newest first. */
interface Query {
  /** Words, all of which must fit: `session:`, `family:`, `extension:`, `code:`, `kind:`, `status:`, `text:`, an id, or others. */
  readonly words: string;
  /** Texts may be shown and searched. */
  readonly text: boolean;
  /** Only what is older than this record. */
  readonly before?: number | undefined;
}

/** Lines that fit, newest first, and where to go on. */
interface Found<Line> {
  readonly rows: readonly Line[];
  /** Absent if there is nothing older. */
  readonly before?: number;
}

const readAtOnce = 500;
/** Records that one request looks through at most: the page asks again for more. */
const lookedAtMost = 10_000;
/** Lines of a page. */
const rowsAtMost = 100;
/** Messages that are read side by side. */
const messagesAtOnce = 8;

/** Looks for entries of which each fits all words. An id finds all of its message. */
export async function search(reader: Reader, query: Query): Promise<Found<Row>> {
  const terms = termsOf(query.words);
  const entries = await ownOf(reader, terms);
  if (entries.length > 0) return { rows: entries.map(rowOf).reverse() };
  const fits = terms.map((term) => fitOf(term, query.text));
  return find(reader, query.before, (record) => {
    const row = rowOf(record);
    return fits.every((isFit) => isFit(row, record)) ? row : undefined;
  });
}

/**
 * Looks for messages, each of them whole: those of which one entry fits all words with a key, and of which each other word fits some
 * entry. Without words these are all, in the order in which they arrived.
 */
export async function messages(reader: Reader, query: Query): Promise<Found<Message>> {
  const { words, text, before } = query;
  const terms = termsOf(words);
  const own = messageOf(await ownOf(reader, terms), text);
  if (own !== undefined) return { rows: [own] };
  const keyed = terms.filter(hasKey).map((term) => fitOf(term, text));
  const others = terms.filter((term) => !hasKey(term)).map((term) => fitOf(term, text));
  const fits: readonly Fit[] = [
    (row, record) =>
      (terms.length > 0 || isArrival(record)) && keyed.every((isFit) => isFit(row, record)),
    ...others,
  ];
  const fitted = new Map<string, Set<Fit>>();
  return find(reader, before, async (record) => {
    const of = fitted.get(record.correlationId) ?? new Set();
    fitted.set(record.correlationId, of);
    if (of.size === fits.length) return undefined; // it is found
    const row = rowOf(record);
    for (const isFit of fits) if (isFit(row, record)) of.add(isFit);
    if (of.size < fits.length) return undefined;
    return messageOf(await entriesOf(reader, record.correlationId), text);
  });
}

function isArrival(record: TimelineEntry): boolean {
  return record.kind === 'update' && record.state === 'accepted';
}

/** Makes a page of lines of the records before one, the newest first. */
async function find<Line>(
  reader: Reader,
  before: number | undefined,
  lineOf: (record: TimelineEntry) => Line | undefined | Promise<Line | undefined>,
): Promise<Found<Line>> {
  const rows: Line[] = [];
  let to = before ?? (await lastSeq(reader)) + 1;
  for (let looked = 0; to > 1 && looked < lookedAtMost; looked += readAtOnce) {
    const from = Math.max(0, to - 1 - readAtOnce);
    const records = await recordsOf(reader, from, to - 1);
    for (const record of records.toReversed()) {
      const line = await lineOf(record);
      if (line !== undefined) rows.push(line);
      if (rows.length === rowsAtMost) return { rows, before: record.seq };
    }
    const isThere = records.some((record) => record.kind !== 'gap' || record.why !== 'gone');
    to = isThere ? from + 1 : 0; // what is older is gone
  }
  return { rows, ...(to > 1 && { before: to }) };
}

const keys = ['session', 'family', 'extension', 'code', 'kind', 'status', 'text'] as const;

function hasKey(term: string): boolean {
  return keys.some((key) => term.startsWith(`${key}:`));
}

function termsOf(words: string): readonly string[] {
  return words.split(/\s+/).filter((word) => word !== '');
}

/** The entries of a message, if the only word is its id or that of any dispatch of it. */
async function ownOf(
  reader: Reader,
  [id, ...others]: readonly string[],
): Promise<readonly TimelineEntry[]> {
  return id !== undefined && others.length === 0 && !hasKey(id) ? entriesOf(reader, id) : [];
}

async function recordsOf(reader: Reader, after: number, to: number): Promise<TimelineEntry[]> {
  const records: TimelineEntry[] = [];
  for await (const record of followJournal(reader, { from: String(after), follow: false })) {
    if (record.seq > to) break;
    records.push(record);
  }
  return records;
}

/** The entries of a message, by its id or by that of any dispatch of it. */
async function entriesOf(reader: Reader, id: string): Promise<readonly TimelineEntry[]> {
  const [own] = await readTimeline(reader, { eventId: id, limit: 1 });
  const correlationId = own?.correlationId ?? id;
  return readTimeline(reader, { correlationId, limit: lookedAtMost });
}

/** Puts the message that each row is of beside it, as far as the journal tells of it: for the rows that a page shows. */
export function withMessages<R extends object>(
  reader: Reader,
  rows: readonly R[],
  idOf: (row: R) => unknown,
  mayText: boolean,
): Promise<(R & { readonly message?: Message | undefined })[]> {
  return pLimit(messagesAtOnce).map(rows, async (row, at) => {
    if (at >= rowsAtMost) return row;
    return { ...row, message: messageOf(await entriesOf(reader, String(idOf(row))), mayText) };
  });
}

/** @throws RequestProblem if the journal has no message of this id. */
export async function knownMessage(reader: Reader, id: string): Promise<readonly TimelineEntry[]> {
  const entries = await entriesOf(reader, id);
  if (entries.length > 0) return entries;
  throw new RequestProblem('the journal has no such message', 404);
}

/** The number of the newest record; 0 if there is none. */
export async function lastSeq(reader: Reader): Promise<number> {
  const [last] = (await reader.dispatches({ kinds: allKinds, withinLast: 1 })).slice(-1);
  return last?.seq ?? 0;
}

type Fit = (row: Row, record: TimelineEntry) => boolean;

function fitOf(term: string, mayText: boolean): Fit {
  const [, key = '', value = ''] = (hasKey(term) && /^(\w+):(.*)$/.exec(term)) || [];
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
      return (row, record) =>
        row.id.startsWith(term) ||
        row.correlationId.startsWith(term) ||
        saidIn(record, mayText).some((said) => said?.toLowerCase().includes(term.toLowerCase()));
  }
}

/** The texts of an entry that a person would search for: names, and what was said if that may be searched. */
function saidIn(record: TimelineEntry, mayText: boolean): readonly (string | undefined)[] {
  if (record.kind === 'update') return [record.channel, record.agentId];
  if (record.kind === 'question') return mayText ? [record.title] : [];
  if (record.kind !== 'dispatch') return [];
  const { content, sender, channelName, conversationId } = payloadOf(record);
  const { name, username, id }: Readonly<Record<string, unknown>> = { ...Object(sender) };
  const said = mayText && typeof content === 'string' ? [content] : [];
  return [...[name, username, id, channelName, conversationId].map(lineOf), ...said];
}

function authorsOf(record: TimelineEntry): readonly string[] {
  if (record.kind !== 'dispatch') return [];
  const { changes, failures, steps, staleApprovals } = record.outcome;
  return [...changes, ...failures, ...steps, ...staleApprovals].map(
    ({ extensionId }) => extensionId ?? '',
  );
}
