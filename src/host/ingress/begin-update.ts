import type { UpdateFence } from '@sluice/journal';
import { logJournalFailure } from '@sluice/journal/internal';
import type { FencedParts, HostParts } from '../parts/parts.js';
import { underFence } from '../parts/under-fence.js';
import { reportUpdate } from '../timeline/report-update.js';

/** Returns whether an update that has not begun is left to the next host. */
export function isDeferredToNext({ signal, backlog, journal }: HostParts): boolean {
  return journal.acknowledge === 'persisted' && (signal.aborted || backlog.isClosed);
}

/**
 * Begins an update, with those that join it, unless that was done. Never rejects.
 *
 * @returns the services for all that is done for it; nothing if it has not begun, and is tried again later.
 */
export async function beginUpdate(
  parts: HostParts,
  eventId: string,
  joined?: readonly string[],
): Promise<FencedParts | undefined> {
  const { journal, backlog, logger, deferredEnds } = parts;
  const begun = backlog.begun.get(eventId);
  if (begun !== undefined) return underFence(parts, begun);
  try {
    const { attempts: attempt, fence } = await journal.begin(eventId, joined);
    backlog.begun.set(eventId, fence);
    reportUpdate(parts, eventId, 'begun', { attempt });
    return underFence(parts, fence);
  } catch (error) {
    logJournalFailure(logger, 'an update waits: the journal could not be used', { eventId, error });
    deferredEnds.add(eventId);
    return undefined;
  }
}

/** Takes a beginning back. @returns whether it is no longer counted. Never rejects. */
export async function releaseUpdate(parts: HostParts, fence: UpdateFence): Promise<boolean> {
  const { journal, backlog, logger } = parts;
  const { eventId } = fence;
  backlog.begun.delete(eventId);
  try {
    await journal.release(fence);
    reportUpdate(parts, eventId, 'given-back');
    return true;
  } catch (error) {
    logJournalFailure(logger, 'a beginning that does not count was counted', { eventId, error });
    return false;
  }
}

/**
 * Gives back what was begun here and has not ended, when a host stops in good order: these beginnings do not count
 * (durability §7.8). The ends of sends that could not be persisted are tried once more. Never rejects.
 */
export async function releaseUpdates(parts: HostParts): Promise<void> {
  await parts.outbox.persistSent();
  await Promise.all([...parts.backlog.begun.values()].map((fence) => releaseUpdate(parts, fence)));
}
