import type { DispatchFilter, DispatchRecord, JournalReader } from '@sluice/journal';
import { entryKinds, kindOf } from '@sluice/journal/internal';
import { z } from 'zod';
import { recordedAudit, recordedBody, recordedOutcome } from './recorded-outcome.js';
import type { TimelineEntry } from './timeline-entry.js';

/** The part of an entry that its readers depend on; its further fields are taken as they are. */
const entrySchema = z.looseObject({
  kind: z.enum(entryKinds),
  id: z.string(),
  correlationId: z.string(),
  atMs: z.number(),
});

/**
 * Reads a record of a journal as an entry of a timeline.
 *
 * @throws SluiceError `unreadable-dispatch` if it is no record of this project.
 */
export function timelineEntry(record: DispatchRecord): TimelineEntry {
  const { seq, eventId, correlationId, occurredAtMs: atMs } = record;
  const kind = kindOf(record);
  const common = { seq, correlationId, atMs };
  if (kind === 'dispatch')
    return { ...common, kind, id: eventId, outcome: recordedOutcome(record) };
  if (kind === 'audit') {
    const audit = recordedAudit(record);
    const id = `${eventId}/${audit.extensionId}/${audit.contributionId}`;
    return { ...common, kind, id, parentId: eventId, record: audit };
  }
  const entry = recordedBody(record, entrySchema);
  return { ...entry, seq } as TimelineEntry; // as `keepTimeline` wrote it
}

/**
 * Reads the timelines of a journal: dispatches and all other entries, in the order in which they were persisted.
 *
 * @param filter `kinds` is every kind, if absent.
 * @throws SluiceError (as a rejection) `unreadable-dispatch`, and what the journal throws.
 * @example
 * const timeline = foldTimeline(await readTimeline(reader, { correlationId }));
 */
export async function readTimeline(
  reader: Pick<JournalReader, 'dispatches'>,
  filter: DispatchFilter = {},
): Promise<readonly TimelineEntry[]> {
  return (await reader.dispatches({ kinds: entryKinds, ...filter })).map(timelineEntry);
}
