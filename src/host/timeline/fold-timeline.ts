import { getOrMake } from 'sluice-kernel/internal';
import type {
  AttemptEntry,
  AuditEntry,
  DispatchEntry,
  EntryContent,
  GapEntry,
  LaneEntry,
  QuestionEntry,
  SendEntry,
  UpdateEntry,
} from './timeline-entry.js';

/** A send with all that is known of it. */
interface TimelineSend {
  readonly id: string;
  /** Its newest step. */
  readonly last: SendEntry;
  readonly attempts: readonly AttemptEntry[];
}

/** The timeline of one message, or of what belongs to none, as far as its entries tell. */
export interface FoldedTimeline {
  /** The steps of its update, in order: it may have been begun more than once. */
  readonly update: readonly UpdateEntry[];
  /** The number of times that it was begun. */
  readonly begun: number;
  /** The step that ended it; absent as long as it is open. */
  readonly end?: UpdateEntry;
  readonly lanes: readonly LaneEntry[];
  /** Milliseconds that it waited for its turns. */
  readonly waitedMs: number;
  readonly dispatches: readonly DispatchEntry[];
  /** By the id of the dispatch that they judged. */
  readonly audits: ReadonlyMap<string, readonly AuditEntry[]>;
  /** The newest step of each question. */
  readonly questions: readonly QuestionEntry[];
  readonly sends: readonly TimelineSend[];
  /** Records that are missing. */
  readonly missing: number;
}

/**
 * Puts the entries of a timeline together. It is pure: the same entries give the same timeline, wherever they come from.
 *
 * @param entries of one message, in the order in which they happened.
 * @example
 * const { end, waitedMs, sends } = foldTimeline(await readTimeline(reader, { correlationId }));
 */
export function foldTimeline(entries: Iterable<EntryContent>): FoldedTimeline {
  const of = <K extends EntryContent['kind']>(kind: K): Extract<EntryContent, { kind: K }>[] =>
    all.filter((entry): entry is Extract<EntryContent, { kind: K }> => entry.kind === kind);
  const all = [...entries];
  const update = of('update');
  const begins = update.filter(({ state }) => state === 'begun').length;
  const released = update.filter(({ state }) => state === 'given-back').length;
  const last = update.at(-1);
  const hasEnded = last?.state === 'ended' || last?.state === 'dead';
  const lanes = of('lane');
  const attempts = of('attempt');
  const audits = new Map<string, AuditEntry[]>();
  for (const audit of of('audit')) getOrMake(audits, audit.parentId ?? '', () => []).push(audit);
  return {
    update,
    begun: begins - released,
    ...(hasEnded && { end: last }),
    lanes,
    waitedMs: lanes.reduce((sum, { waitedMs }) => sum + waitedMs, 0),
    dispatches: of('dispatch'),
    audits,
    questions: newest(of('question')),
    sends: newest(of('send')).map((send) => ({
      id: send.id,
      last: send,
      attempts: attempts.filter(({ parentId }) => parentId === send.id),
    })),
    missing: of('gap').reduce((sum, { count }: GapEntry) => sum + count, 0),
  };
}

/** The newest entry of each thing, in the order in which the things came. */
function newest<F extends { readonly id: string }>(entries: readonly F[]): F[] {
  return [...new Map(entries.map((entry) => [entry.id, entry])).values()];
}
