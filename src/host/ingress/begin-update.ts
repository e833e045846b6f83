import { logJournalFailure } from '../outbox/journal-failure.js';
import type { HostParts } from '../parts/parts.js';
import { tellUpdate } from '../way/tell-update.js';

/** Tells whether an update that has not begun is left to the next host. */
export function isLeftToNext({ signal, backlog, journal }: HostParts): boolean {
  return journal.outlivesHost && (signal.aborted || backlog.isClosed);
}

/**
 * Begins an update, with those that join it, unless that was done. Never rejects.
 *
 * @returns whether it has begun; else it is tried again later.
 */
export async function beginUpdate(
  parts: HostParts,
  eventId: string,
  joined?: readonly string[],
): Promise<boolean> {
  const { journal, backlog, logger, leftOpen } = parts;
  if (backlog.begun.has(eventId)) return true;
  try {
    const attempt = await journal.begin(eventId, joined);
    backlog.begun.add(eventId);
    tellUpdate(parts, eventId, 'begun', { attempt });
    return true;
  } catch (error) {
    logJournalFailure(logger, 'an update waits: the journal could not be used', { eventId, error });
    leftOpen.add(eventId);
    return false;
  }
}

/** Takes a beginning back. @returns whether it is no longer counted. Never rejects. */
export async function giveBack(parts: HostParts, eventId: string): Promise<boolean> {
  const { journal, backlog, logger } = parts;
  backlog.begun.delete(eventId);
  try {
    await journal.giveBack(eventId);
    tellUpdate(parts, eventId, 'given-back');
    return true;
  } catch (error) {
    logJournalFailure(logger, 'a beginning that does not count was counted', { eventId, error });
    return false;
  }
}

/**
 * Gives back what was begun here and has not ended, when a host stops in good order: these beginnings do not count
 * (durability §7.8). The ends of sends that could not be kept are tried once more. Never rejects.
 */
export async function giveBackAll(parts: HostParts): Promise<void> {
  await parts.outbox.keepSent();
  await Promise.all([...parts.backlog.begun].map((eventId) => giveBack(parts, eventId)));
}
