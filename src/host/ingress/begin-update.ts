import type { UpdateFence } from '@sluice/journal';
import { againMs, logJournalFailure, mayPass } from '@sluice/journal/internal';
import { isSluiceError, pause } from 'sluice-kernel/internal';
import type { FencedParts, HostParts } from '../parts/parts.js';
import { forUpdate } from '../parts/under-fence.js';
import { reportUpdate } from '../timeline/report-update.js';

/** Returns whether an update that has not begun is left to the next host. */
export function isDeferredToNext({ signal, backlog }: HostParts): boolean {
  return backlog.mayDefer && (signal.aborted || backlog.isClosed);
}

/**
 * Makes a write of an update again and again until the journal has it: its lane waits meanwhile (durability §6.6). Gives up when the
 * update is left to the next host, or is that of another one.
 *
 * @param failure the error of the first try. The journal may have what a try has written that failed.
 * @throws the error of the last try.
 */
export async function untilKept<T>(
  parts: HostParts,
  eventId: string,
  failure: unknown,
  write: () => Promise<T>,
): Promise<T> {
  for (let error = failure; ; ) {
    const isLost = isSluiceError(error, 'journal-lost');
    if (isLost || !mayPass(error) || isDeferredToNext(parts)) throw error;
    if (error === failure)
      parts.logger.error('an update waits: the journal could not be used', { eventId, error });
    if (!(await pause(parts.clock, againMs, parts.signal))) throw error;
    try {
      return await write();
    } catch (next) {
      error = next;
    }
  }
}

/**
 * Begins an update, with those that join it, unless that was done. Never rejects.
 *
 * @param attempt the number of this attempt.
 * @returns the services for all that is done for it; nothing if it has not begun, and is tried again later.
 */
export async function beginUpdate(
  parts: HostParts,
  eventId: string,
  attempt: number,
  joined?: readonly string[],
): Promise<FencedParts | undefined> {
  const { journal, backlog, logger } = parts;
  const begun = backlog.begun.get(eventId);
  if (begun?.signal.aborted === false) return forUpdate(parts, begun); // one that was lost has begun nothing that may go on
  try {
    const begin = () => journal.begin(eventId, joined, attempt);
    const beginning = begin().catch((error: unknown) => untilKept(parts, eventId, error, begin));
    const { attempts, fence } = await beginning;
    backlog.begun.set(eventId, fence);
    reportUpdate(parts, eventId, 'begun', { attempt: attempts });
    return forUpdate(parts, fence);
  } catch (error) {
    logJournalFailure(logger, 'an update waits: the journal could not be used', { eventId, error });
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
