import { backlogIdle, isBusy } from '../lanes/backlog.js';
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
export function idleWithin(
  parts: HostParts,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const { clock } = parts;
  return new Promise((resolve) => {
    const done = (idle: boolean): void => {
      if (timer !== undefined) clock.clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      resolve(idle);
    };
    const onAbort = (): void => done(false);
    const timer =
      timeoutMs === Number.POSITIVE_INFINITY
        ? undefined
        : clock.setTimeout(() => done(false), timeoutMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    void allIdle(parts).then(() => done(true));
  });
}

/** Resolves when nothing runs, and nothing of the journal is to be taken up. */
async function allIdle({ conversationLanes, backlog }: HostParts): Promise<void> {
  do {
    await backlogIdle(backlog);
    await conversationLanes.idle();
  } while (isBusy(backlog));
}
