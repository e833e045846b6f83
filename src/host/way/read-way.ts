import type { DispatchFilter, DispatchRecord, JournalReader } from '@sluice/journal';
import { kindOf, wayKinds } from '@sluice/journal/internal';
import { z } from 'zod';
import { recordedAudit } from './recorded-audit.js';
import { recordedBody, recordedOutcome } from './recorded-outcome.js';
import type { WayRecord } from './way-record.js';

/** The part of a fact that its readers depend on; its further fields are taken as they are. */
const factSchema = z.looseObject({
  kind: z.enum(wayKinds),
  id: z.string(),
  correlationId: z.string(),
  atMs: z.number(),
});

/**
 * Reads a record of a journal as a fact of a way.
 *
 * @throws SluiceError `unreadable-dispatch` if it is no record of this project.
 */
export function wayRecord(record: DispatchRecord): WayRecord {
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
  const fact = recordedBody(record, factSchema);
  return { ...fact, seq } as unknown as WayRecord; // as `keepWay` wrote it
}

/**
 * Reads the ways of a journal: dispatches and all other facts, in the order in which they were kept.
 *
 * @param filter `kinds` is every kind, if absent.
 * @throws SluiceError (as a rejection) `unreadable-dispatch`, and what the journal throws.
 * @example
 * const way = foldWay(await readWay(reader, { correlationId }));
 */
export async function readWay(
  reader: Pick<JournalReader, 'dispatches'>,
  filter: DispatchFilter = {},
): Promise<readonly WayRecord[]> {
  return (await reader.dispatches({ kinds: wayKinds, ...filter })).map(wayRecord);
}
