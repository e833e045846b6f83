import type { Journal } from '@sluice/journal';
import { oneLine } from 'sluice-kernel/internal';
import { boundedJson, secretKeys } from './bounded-json.js';
import { type DispatchTapOptions, dispatchTap } from './dispatch-tap.js';
import type { LiveEntry } from './timeline-entry.js';
import type { TimelineListener } from './timeline-recorder.js';

/** Characters of an entry that is no dispatch: its texts are bounded before. */
const maxEntryLength = 16_384;
const maxShortLength = 256;

/**
 * Makes a listener that writes each entry into a journal, without secrets. An entry that cannot be persisted is counted, and shows later
 * as a gap.
 *
 * @example
 * const timeline = timelineRecorder();
 * timeline.listen(keepTimeline(journal));
 */
export function keepTimeline(
  journal: Pick<Journal, 'dispatched'>,
  options: DispatchTapOptions = {},
): TimelineListener {
  const dispatches = dispatchTap(journal, options);
  const isSecret = secretKeys(options.redact);
  return (entry) => {
    if (entry.kind === 'dispatch') return dispatches.outcome(entry.outcome);
    if (entry.kind === 'audit') return dispatches.audit(entry.record, entry.event);
    const { id: eventId, correlationId, kind, atMs: occurredAtMs } = entry;
    const kept = boundedJson(entry, { maxLength: maxEntryLength, isSecret });
    const about = { eventId, correlationId, family: kind, sessionId: null, occurredAtMs };
    const body = 'json' in kept ? kept.json : JSON.stringify(shortOf(entry));
    journal.dispatched({ ...about, status: 'passed', omitted: kind, body });
  };
}

/** An entry with the beginning of each of its texts. */
function shortOf(entry: LiveEntry): object {
  return Object.fromEntries(
    Object.entries(entry).map(([key, value]) => [
      key,
      typeof value === 'string' && value.length > maxShortLength ? oneLine(value) : value,
    ]),
  );
}
