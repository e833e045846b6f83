import { untilCut } from '@sluice/agent/internal';
import { deferred } from 'sluice-kernel/internal';

/**
 * One turn at a time for each session: the SDK goes on writing a session down for a moment after a turn was
 * stopped, and a turn that resumes it before that would not find what was said.
 */
export function claudeTurns() {
  const last = new Map<string, Promise<void>>();

  /**
   * Waits until the turn before has let go, or the signal aborts.
   *
   * @returns the function that lets go of this turn. The caller has to call it, whatever happens.
   */
  return async (sessionId: string, signal: AbortSignal): Promise<() => void> => {
    const before = last.get(sessionId);
    const { promise: gone, resolve } = deferred();
    last.set(sessionId, gone);
    if (before !== undefined) await untilCut(before, signal);
    return () => {
      if (last.get(sessionId) === gone) last.delete(sessionId);
      resolve();
    };
  };
}
