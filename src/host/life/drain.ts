import { backlogIdle, isBusy } from '../lanes/backlog.js';
import { callWithin } from '../parts/attempt.js';
import type { HostParts } from '../parts/parts.js';

/**
 * Waits until every message is done with.
 *
 * @returns whether that was so before the time was up or `hurry` aborted.
 */
export async function drain(
  parts: HostParts,
  timeoutMs: number,
  hurry: AbortController,
): Promise<boolean> {
  if (hurry.signal.aborted) return parts.conversationLanes.size === 0 && !isBusy(parts.backlog);
  return idleWithin(parts, timeoutMs, hurry.signal);
}

/**
 * Waits for the lanes, for ever if so asked.
 *
 * @returns whether they are idle.
 */
export async function idleWithin(
  parts: HostParts,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const limitMs = timeoutMs === Number.POSITIVE_INFINITY ? undefined : timeoutMs;
  const { status } = await callWithin(() => allIdle(parts), parts.clock, limitMs, signal);
  return status === 'returned';
}

/** Resolves when nothing runs, and nothing of the journal is to be claimed. */
async function allIdle({ conversationLanes, backlog }: HostParts): Promise<void> {
  do {
    await backlogIdle(backlog);
    await conversationLanes.idle();
  } while (isBusy(backlog));
}
