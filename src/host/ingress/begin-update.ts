import type { UpdateFence } from '@sluice/journal';
import { logJournalFailure, patiently } from '@sluice/journal/internal';
import pLimit from 'p-limit';
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
export function untilKept<T>(
  parts: HostParts,
  eventId: string,
  failure: unknown,
  write: () => Promise<T>,
): Promise<T> {
  const again = (isAgain: boolean) => (isAgain ? write() : Promise.reject(failure));
  return patiently(parts.clock, parts.signal, again, (error, isAgain) => {
    const isLeft = isDeferredToNext(parts);
    if (!isLeft && !isAgain)
      parts.logger.error('an update waits: the journal could not be used', { eventId, error });
    return !isLeft;
  });
}

/** The services for an update that has begun; nothing if it has not. One that was lost has begun nothing that may go on. */
export function alreadyBegun(parts: HostParts, eventId: string): FencedParts | undefined {
  const begun = parts.backlog.begun.get(eventId);
  return begun?.signal.aborted === false ? forUpdate(parts, begun) : undefined;
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
  const already = alreadyBegun(parts, eventId);
  if (already !== undefined) return already;
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

/**
 * Takes a beginning back. Never rejects.
 *
 * @param isPatient it waits for a journal that is away.
 * @returns whether it is no longer counted.
 */
export async function releaseUpdate(
  parts: HostParts,
  fence: UpdateFence,
  isPatient = false,
): Promise<boolean> {
  const { journal, backlog, logger } = parts;
  const { eventId } = fence;
  backlog.begun.delete(eventId);
  const release = () => journal.release(fence);
  try {
    await release().catch((error: unknown) => {
      if (!isPatient) throw error;
      return untilKept(parts, eventId, error, release);
    });
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
  const begun = [...parts.backlog.begun.values()];
  await pLimit(8).map(begun, (fence) => releaseUpdate(parts, fence));
}
