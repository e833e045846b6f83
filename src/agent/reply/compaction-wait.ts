import { type Deferred, deferred } from 'sluice-kernel/internal';

/** Knows when a run's compactions are done, and the tries that follow them. */
export function compactionWait() {
  let isInFlight = false;
  let retries = 0;
  let isClosed = false;
  let pending: Deferred<void> | undefined;
  const isPending = (): boolean => isInFlight || retries > 0;

  function settleIfDone(): void {
    if (isPending()) return;
    pending?.resolve();
    pending = undefined;
  }

  return {
    isInFlight: (): boolean => isInFlight,
    isPending,

    start(): void {
      isInFlight = true;
    },

    /** A compaction ended. The run that is tried again ends with `agentEnded`. */
    end(willRetry: boolean): void {
      isInFlight = false;
      if (willRetry) retries++;
      else settleIfDone();
    },

    agentEnded(): void {
      if (retries > 0) retries--;
      settleIfDone();
    },

    /** Resolves once nothing is in flight and nothing is tried again; rejects with an `AbortError` after `close`. */
    async wait(): Promise<void> {
      if (isClosed) throw aborted();
      if (!isPending()) await undefined; // what ends now may begin one
      if (isClosed) throw aborted();
      if (isPending()) await (pending ??= deferred()).promise;
    },

    close(): void {
      if (isClosed) return;
      isClosed = true;
      pending?.reject(aborted());
      pending = undefined;
    },
  };
}

function aborted(): Error {
  const error = new Error(
    'The reply callbacks were unsubscribed while a compaction was waited for.',
  );
  error.name = 'AbortError';
  return error;
}
