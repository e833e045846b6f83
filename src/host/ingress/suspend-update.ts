import { logJournalFailure } from '@sluice/journal/internal';
import { anySignal } from '@sluice/sdk/stream/internal';
import { pause } from 'sluice-kernel/internal';
import { isParked } from '../lanes/parked-turns.js';
import type { Place } from '../lanes/slots.js';
import type { FencedParts } from '../parts/parts.js';
import { isDeferredToNext, releaseUpdate } from './begin-update.js';
import type { ReceivedUpdate, Worked } from './received-update.js';

/** One process suspends a message so often. After that its attempts count: it may be what the journal fails at (durability §7.8). */
const mostSuspended = 10;

/** Milliseconds before a message that was suspended twice is claimed again: each time twice as many, up to the longest. */
const waitMs = { first: 1_000, longest: 60_000 };

/**
 * Leaves an update whose work is suspended to the next reading of the journal, which claims it as after a restart. It begins again when
 * the journal has taken its beginning back, which does not count then (durability §6.13). So does one that waits for its turn, when that
 * has come (durability §8.8). Never rejects.
 */
export async function suspendUpdate(
  parts: FencedParts,
  { eventId }: Pick<ReceivedUpdate, 'eventId'>,
  place: Place,
): Promise<Worked> {
  const { backlog, approvals, clock, signal, logger, gate, suspension } = parts;
  if (parts.fence.signal.aborted) backlog.begun.delete(eventId); // whoever has its partition claims it
  const fence = backlog.begun.get(eventId);
  if (fence === undefined || signal.aborted || isDeferredToNext(parts)) return 'blocked';
  const error = suspension?.why;
  const isFailed = error !== isParked;
  if (isFailed)
    logJournalFailure(logger, 'a message is suspended: the journal failed', { eventId, error });
  const count = (backlog.suspended.get(eventId) ?? 0) + Number(isFailed);
  if (isFailed) backlog.suspended.set(eventId, count);
  if (isFailed && count > 1) {
    place.leave();
    const ms = Math.min(waitMs.first * 2 ** (count - 2), waitMs.longest);
    await pause(clock, ms, anySignal(signal, approvals.leaving, gate.closing));
    await place.enter();
  }
  if (count > mostSuspended) backlog.begun.delete(eventId);
  else if (!(await releaseUpdate(parts, fence, true))) backlog.begun.set(eventId, fence); // a stop tries it once more
  return isFailed ? 'blocked' : 'done'; // its lane goes on when its turn has come, as it may have by now
}
