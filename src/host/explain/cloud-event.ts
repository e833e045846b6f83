import type { TimelineEntry } from '../timeline/timeline-entry.js';
import { cursorOf } from './follow-journal.js';

/** A record of a timeline as a CloudEvent 1.0, with the extension attributes `sequence` and `partitionkey`. */
export interface TimelineCloudEvent {
  readonly specversion: '1.0';
  /** `sluice.` and the family of a dispatch; else the kind and the state, as in `sluice.send.sent`. */
  readonly type: string;
  readonly source: string;
  /** The same for the same record of a source. */
  readonly id: string;
  readonly time: string;
  /** The thing that it is about: an event, a send, a question. */
  readonly subject: string;
  readonly datacontenttype: 'application/json';
  /** The cursor of the record: to go on after it. */
  readonly sequence: string;
  /** The event id of the message; absent if it belongs to none. */
  readonly partitionkey?: string;
  readonly data: TimelineEntry;
}

/**
 * Makes a CloudEvent of a record (sight §4).
 *
 * @param source names the host, as a URI reference.
 * @example
 * for await (const record of followJournal(journal)) await post(cloudEventOf(record, '/sluice/main'));
 */
export function cloudEventOf(record: TimelineEntry, source = '/sluice'): TimelineCloudEvent {
  const { id, correlationId, atMs } = record;
  const sequence = cursorOf(record);
  return {
    specversion: '1.0',
    type: typeOf(record),
    source,
    id: sequence,
    time: new Date(atMs).toISOString(),
    subject: id,
    datacontenttype: 'application/json',
    sequence,
    ...(correlationId !== '' && { partitionkey: correlationId }),
    data: record,
  };
}

function typeOf(record: TimelineEntry): string {
  if (record.kind === 'dispatch') return `sluice.${record.outcome.event.family}`;
  return 'state' in record ? `sluice.${record.kind}.${record.state}` : `sluice.${record.kind}`;
}
