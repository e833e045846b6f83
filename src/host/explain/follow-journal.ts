import type { DispatchFilter, DispatchRecord, EntryKind, JournalReader } from '@sluice/journal';
import { entryKinds } from '@sluice/journal/internal';
import type { KeyValues } from '@sluice/sdk/extension';
import {
  type Clock,
  isSluiceError,
  kernelError,
  oneLine,
  pause,
  systemClock,
} from 'sluice-kernel/internal';
import { timelineEntry } from '../timeline/read-timeline.js';
import type { TimelineEntry } from '../timeline/timeline-entry.js';

/** A place in a journal. It is opaque: keep it, and give it back. */
export type TimelineCursor = string;

/** Says which records to follow, and from where. */
export interface FollowOptions {
  /** After this place; `now` for what comes from now on. From the oldest record on, if neither this nor `consumer` says so. */
  readonly from?: TimelineCursor | 'now';
  /** Ends after the last record that is there, if it is `false`; by default it waits for more. */
  readonly follow?: boolean;
  readonly kinds?: readonly EntryKind[];
  /** Ends it. */
  readonly signal?: AbortSignal;
  /** Milliseconds between two looks; 250 by default. */
  readonly pollMs?: number;
  readonly clock?: Clock;
}

/** A consumer whose place the journal keeps. */
export interface ConsumerOptions extends FollowOptions {
  /** Its name: 1 to 128 characters. */
  readonly consumer: string;
}

const readAtOnce = 500;
/** Records that one row of a file holds, at most. */
const mostOfRow = 1_000;
/** Records after which the place of a consumer is persisted, also if there are more. */
const persistedEvery = 100;
const namespace = '/consumers';
const quota = { maxKeys: 1_000, maxBytes: 1024 * 1024 };

/**
 * Follows a journal: yields its records in the order in which they were persisted, without holes. Where records are missing, since they
 * were dropped, are damaged or are older than the journal keeps, a record of the kind `gap` says how many (sight §3).
 *
 * With a `consumer` the journal keeps how far it has come: each record comes at least once, also over restarts. A record counts
 * as taken when the next one is asked for.
 *
 * @throws SluiceError (as a rejection) `bad-option`, and what the journal throws.
 * @example
 * for await (const record of followJournal(journal, { consumer: 'billing', kinds: ['send'] })) await book(record);
 */
export function followJournal(
  journal: Pick<JournalReader, 'dispatches'> & { readonly keyValues: KeyValues },
  options: ConsumerOptions,
): AsyncGenerator<TimelineEntry, void>;
export function followJournal(
  journal: Pick<JournalReader, 'dispatches'>,
  options?: FollowOptions,
): AsyncGenerator<TimelineEntry, void>;
export async function* followJournal(
  journal: Pick<JournalReader, 'dispatches'> & { readonly keyValues?: KeyValues },
  options: FollowOptions & { readonly consumer?: string } = {},
): AsyncGenerator<TimelineEntry, void> {
  const { follow = true, kinds = entryKinds, pollMs = 250, clock = systemClock } = options;
  const { signal = new AbortController().signal } = options;
  checkPlace(options.from, options.consumer);
  const place = placeOf(journal.keyValues, options.consumer);
  const start = await startOf(journal, options.from, place);
  let afterSeq = start ?? 0;
  let isPlaced = start !== undefined; // nothing is missing before the first record that comes from now on
  let persistedSeq = afterSeq;
  const keep = async (): Promise<void> => {
    if (persistedSeq !== afterSeq) await place?.write(afterSeq);
    persistedSeq = afterSeq;
  };
  try {
    while (!signal.aborted) {
      const { records, damagedSeq } = await readOn(journal, { afterSeq, limit: readAtOnce });
      if (damagedSeq !== undefined) {
        const count = damagedSeq - afterSeq;
        if (kinds.includes('gap')) yield gapAt(damagedSeq, clock.now(), count);
        afterSeq = damagedSeq;
        continue;
      }
      for (const record of records) {
        const missing = isPlaced ? record.seq - afterSeq - 1 : 0;
        isPlaced = true;
        if (missing > 0 && kinds.includes('gap'))
          yield gapAt(record.seq - 1, record.occurredAtMs, missing);
        const entry = entryOf(record);
        if (kinds.includes(entry.kind)) yield entry;
        afterSeq = record.seq;
        if (afterSeq - persistedSeq >= persistedEvery) await keep();
        if (signal.aborted) return;
      }
      if (records.length > 0) continue;
      await keep();
      if (!follow || !(await pause(clock, pollMs, signal))) return;
    }
  } finally {
    await keep();
  }
}

/**
 * The place after a record, to go on from later.
 *
 * @example
 * const later = followJournal(journal, { from: cursorOf(record) });
 */
export function cursorOf({ seq }: Pick<TimelineEntry, 'seq'>): TimelineCursor {
  return String(seq);
}

async function startOf(
  journal: Pick<JournalReader, 'dispatches'>,
  from: string | undefined,
  place: Awaited<ReturnType<typeof placeOf>>,
): Promise<number | undefined> {
  if (from === 'now') {
    const last = await readOn(journal, { withinLast: 1, limit: mostOfRow });
    return last.damagedSeq ?? last.records.at(-1)?.seq;
  }
  if (from === undefined) return (await place?.read()) ?? 0;
  return Number(from);
}

/** Checks where to begin and for whom. @throws SluiceError `bad-option`. */
export function checkPlace(from = 'now', consumer = 'none'): void {
  const refuse = (option: string, problem: string) =>
    kernelError('bad-option', { option, problem });
  if (from !== 'now' && !/^\d{1,15}$/.test(from))
    throw refuse('from', `${oneLine(from)} is no cursor of a record`);
  if (!/^[\x21-\x7e]{1,128}$/.test(consumer))
    throw refuse('consumer', 'its name is 1 to 128 visible ASCII characters');
}

/** How far a consumer has come, as the journal keeps it. */
function placeOf(keyValues: KeyValues | undefined, consumer: string | undefined) {
  if (consumer === undefined) return undefined;
  const refuse = (problem: string) => kernelError('bad-option', { option: 'consumer', problem });
  if (keyValues === undefined) throw refuse('the journal is open to be read only');
  return {
    read: async (): Promise<number | undefined> => {
      const persisted = await keyValues.get(namespace, consumer);
      return persisted && Number(JSON.parse(persisted.body));
    },
    write: async (seq: number): Promise<void> => {
      const { status } = await keyValues.write(
        namespace,
        consumer,
        { body: String(seq) },
        { quota },
      );
      if (status !== 'written') throw refuse(`a journal keeps at most ${quota.maxKeys} consumers`);
    },
  };
}

/** Reads records up to a damaged row. If that is the next one, only its number is given. */
async function readOn(
  journal: Pick<JournalReader, 'dispatches'>,
  filter: DispatchFilter & { readonly limit: number },
): Promise<{ readonly records: readonly DispatchRecord[]; readonly damagedSeq?: number }> {
  try {
    return { records: await journal.dispatches({ kinds: entryKinds, ...filter }) };
  } catch (error) {
    const damagedSeq = isSluiceError(error, 'database-damaged') ? error.details['seq'] : undefined;
    if (typeof damagedSeq !== 'number' || damagedSeq <= (filter.afterSeq ?? 0)) throw error;
    return filter.limit > 1
      ? readOn(journal, { ...filter, limit: 1 })
      : { records: [], damagedSeq };
  }
}

/** The entry of a record, or a gap in its place if it cannot be read. */
function entryOf(record: DispatchRecord): TimelineEntry {
  try {
    return timelineEntry(record);
  } catch (error) {
    if (!isSluiceError(error, 'unreadable-dispatch')) throw error;
    return gapAt(record.seq, record.occurredAtMs, 1);
  }
}

function gapAt(seq: number, atMs: number, count: number): TimelineEntry {
  return { kind: 'gap', id: `gap-${seq}`, correlationId: '', atMs, seq, count, why: 'gone' };
}
