import { checkedFence, type SessionWrite } from '../fence.js';

/** The writes that a journal groups. */
interface Batch<Work> {
  write(work: Work): Promise<unknown>;
  /** With the next write of another, or after a while. */
  later(work: Work): Promise<unknown>;
  hurry(): void;
}

/**
 * Writes what belongs to a session, and lets nobody read the session before what waits of it is written.
 *
 * @returns `write`, which runs `told` before those that wait for the write go on, and `written`.
 */
export function sessionWrites<Work>(batch: Batch<Work>) {
  /** The last write that waits, by the session that it belongs to: its id, or its key. */
  const waiting = new Map<string, Promise<void>>();
  return {
    write: async (
      of: string,
      work: Work,
      { fence, mayWait }: SessionWrite,
      told = () => {},
    ): Promise<void> => {
      checkedFence(fence);
      const persisted = (mayWait === true ? batch.later(work) : batch.write(work)).then(told);
      waiting.set(of, persisted);
      try {
        await persisted;
      } finally {
        if (waiting.get(of) === persisted) waiting.delete(of);
      }
    },
    /** Has what waits of a session written, because it is read now. Its writer learns if that fails. */
    written: async (of: string): Promise<void> => {
      const last = waiting.get(of);
      if (last === undefined) return;
      batch.hurry();
      await last.catch(() => undefined);
    },
  };
}
