import type { UpdateHold } from '@sluice/journal';
import { logJournalFailure } from '@sluice/journal/internal';
import type { HeldParts, HostParts } from '../parts/parts.js';
import { underHold } from '../parts/under-hold.js';
import { tellUpdate } from '../way/tell-update.js';

/** Tells whether an update that has not begun is left to the next host. */
export function isLeftToNext({ signal, backlog, journal }: HostParts): boolean {
  return journal.outlivesHost && (signal.aborted || backlog.isClosed);
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
): Promise<HeldParts | undefined> {
  const { journal, backlog, logger, leftOpen } = parts;
  const begun = backlog.begun.get(eventId);
  if (begun !== undefined) return underHold(parts, begun);
  try {
    const { attempts: attempt, hold } = await journal.begin(eventId, joined);
    backlog.begun.set(eventId, hold);
    tellUpdate(parts, eventId, 'begun', { attempt });
    return underHold(parts, hold);
  } catch (error) {
    logJournalFailure(logger, 'an update waits: the journal could not be used', { eventId, error });
    leftOpen.add(eventId);
    return undefined;
  }
}

/** Takes a beginning back. @returns whether it is no longer counted. Never rejects. */
export async function giveBack(parts: HostParts, hold: UpdateHold): Promise<boolean> {
  const { journal, backlog, logger } = parts;
  const { eventId } = hold;
  backlog.begun.delete(eventId);
  try {
    await journal.giveBack(hold);
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
  await Promise.all([...parts.backlog.begun.values()].map((hold) => giveBack(parts, hold)));
}
