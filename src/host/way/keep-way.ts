import type { Journal } from '@sluice/journal';
import { oneLine } from 'sluice-kernel/internal';
import { boundedJson, secretKeys } from './bounded-json.js';
import { type DispatchTapOptions, dispatchTap } from './dispatch-tap.js';
import type { LiveFact } from './way-record.js';
import type { WayListener } from './way-recorder.js';

/** Characters of a fact that is no dispatch: its texts are bounded before. */
const maxFactLength = 16_384;
const maxShortLength = 256;

/**
 * Makes a listener that writes each fact into a journal, without secrets. A fact that cannot be kept is counted, and shows later
 * as a gap.
 *
 * @example
 * const way = wayRecorder();
 * way.listen(keepWay(journal));
 */
export function keepWay(
  journal: Pick<Journal, 'dispatched'>,
  options: DispatchTapOptions = {},
): WayListener {
  const dispatches = dispatchTap(journal, options);
  const isSecret = secretKeys(options.redact);
  return (fact) => {
    if (fact.kind === 'dispatch') return dispatches.outcome(fact.outcome);
    if (fact.kind === 'audit') return dispatches.audit(fact.record, fact.event);
    const { id: eventId, correlationId, kind, atMs: occurredAtMs } = fact;
    const kept = boundedJson(fact, { maxLength: maxFactLength, isSecret });
    const about = { eventId, correlationId, family: kind, sessionId: null, occurredAtMs };
    const body = 'json' in kept ? kept.json : JSON.stringify(shortOf(fact));
    journal.dispatched({ ...about, status: 'passed', omitted: kind, body });
  };
}

/** A fact with the beginning of each of its texts. */
function shortOf(fact: LiveFact): object {
  return Object.fromEntries(
    Object.entries(fact).map(([key, value]) => [
      key,
      typeof value === 'string' && value.length > maxShortLength ? oneLine(value) : value,
    ]),
  );
}
