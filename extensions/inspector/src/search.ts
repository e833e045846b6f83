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

/** A part of a journal: what is older than a record, or newer; the newest, if neither is named. */
export interface Part {
  readonly before?: number;
  readonly after?: number;
}

/** A search, newest first. */
interface Query extends Part {
  /** Words, all of which must fit: `session:`, `family:`, `extension:`, `code:`, `kind:`, `status:`, `text:`, an id, or others. */
  readonly words: string;
  /** Texts may be shown and searched. */
  readonly text: boolean;
}

/** Lines that fit, newest first, and where to go on. */
interface Found<Line = Row> {
  readonly rows: readonly Line[];
  /** Absent if there is nothing older. */
  readonly before?: number;
  /** The newest record that was looked at. */
  readonly last: number;
}

/** Records in the order in which they were kept, the newest block first. */
interface Block extends Omit<Found, 'rows'> {
  readonly records: readonly TimelineEntry[];
}

const readAtOnce = 500;
/** Records that one request looks through at most: the page asks again for more. */
const lookedAtMost = 10_000;
const rowsAtMost = 500;
/** Messages after which a request stops: each is read as a whole. */
const foundAtMost = 100;

/** Looks for entries from the end of a journal. An id is looked up, and finds all of its message. */
export async function search(reader: Reader, { words, text, ...part }: Query): Promise<Found> {
  const terms = termsOf(words);
  const entries = await ownOf(reader, terms, part);
  if (entries.length > 0)
    return { rows: entries.map(rowOf).reverse(), last: Math.max(...entries.map(({ seq }) => seq)) };
  const fits = terms.map((term) => fitOf(term, text));
  const rows: Row[] = [];
  let found: Found = { rows, last: part.after ?? 0 };
  for await (const { records, ...place } of blocksOf(reader, part)) {
    const lines = records.map((record) => [rowOf(record), record] as const);
    const fitting = lines.filter((line) => fits.every((isFit) => isFit(...line)));
    rows.push(...fitting.map(([row]) => row).reverse());
    found = { rows, ...place };
    if (rows.length >= rowsAtMost) break;
  }
  return found;
}

/**
 * Finds messages, the one with the newest step first: those of which one entry fits all words with a key, and of which each other word
 * fits some entry. Each is whole, also if it began before the part, so the page keeps the newest of what it gets.
 */
export async function messages(
  reader: Reader,
  { words, text, ...part }: Query,
): Promise<Found<Message>> {
  const terms = termsOf(words);
  const own = messageOf(await ownOf(reader, terms, part), text);
  if (own !== undefined) return { rows: [own], last: own.seq };
  const keyed = terms.filter(hasKey).map((term) => fitOf(term, text));
  const others = terms.filter((term) => !hasKey(term)).map((term) => fitOf(term, text));
  const isStep: Fit = ({ kind }) => terms.length > 0 || kind === 'update';
  const fits: readonly Fit[] = [
    (...line) => [isStep, ...keyed].every((isFit) => isFit(...line)),
    ...others,
  ];
  const fitted = new Map<string, Set<Fit>>();
  const rows: Message[] = [];
  let found: Found<Message> = { rows, last: part.after ?? 0 };
  for await (const { records, ...place } of blocksOf(reader, part)) {
    for (const record of records.toReversed()) {
      const row = rowOf(record);
      const of = fitted.get(record.correlationId) ?? new Set();
      fitted.set(record.correlationId, of);
      if (of.size === fits.length) continue;
      for (const isFit of fits) if (isFit(row, record)) of.add(isFit);
      if (of.size < fits.length) continue;
      const message = messageOf(await entriesOf(reader, record.correlationId), text);
      if (message !== undefined) rows.push(message);
    }
    found = { rows, ...place };
    if (rows.length >= foundAtMost) break;
  }
  return found;
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
  { before, after }: Part,
): Promise<readonly TimelineEntry[]> {
  const isId = id !== undefined && others.length === 0 && !hasKey(id);
  return isId && before === undefined && after === undefined ? entriesOf(reader, id) : [];
}

/** Reads on from a record, or back from one. */
async function* blocksOf(reader: Reader, { before, after }: Part): AsyncGenerator<Block> {
  if (after !== undefined) {
    const records = await recordsOf(reader, after, after + lookedAtMost);
    yield { records, last: records.at(-1)?.seq ?? after };
    return;
  }
  const last = before === undefined ? await lastSeq(reader) : before - 1;
  let to = last + 1;
  for (let looked = 0; to > 1 && looked < lookedAtMost; looked += readAtOnce) {
    const from = Math.max(0, to - 1 - readAtOnce);
    const records = await recordsOf(reader, from, to - 1);
    const isThere = records.some((record) => record.kind !== 'gap' || record.why !== 'gone');
    to = isThere ? from + 1 : 0; // what is older is gone
    yield { records, last, ...(to > 1 && { before: to }) };
  }
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

/** @throws RequestProblem if the journal has no message of this id. */
export async function knownMessage(reader: Reader, id: string): Promise<readonly TimelineEntry[]> {
  const entries = await entriesOf(reader, id);
  if (entries.length > 0) return entries;
  throw new RequestProblem('the journal has no such message', 404);
}

async function lastSeq(reader: Reader): Promise<number> {
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
