import type { StopSignal } from '@sluice/sdk/stream/internal';
import { type Clock, isSluiceError, type Logger, pause } from 'sluice-kernel/internal';
import { isRefusedForGood } from '../rows/table-rows.js';

/**
 * Logs that the journal failed a write. The loss of the whole journal is told once, by the watch over it: what fails
 * because of that is at level `debug`.
 */
export function logJournalFailure(
  logger: Logger,
  message: string,
  fields: Readonly<Record<string, unknown>> & { readonly error: unknown },
): void {
  const { error } = fields;
  const isLost = isSluiceError(error, 'journal-lost');
  logger[isLost ? 'debug' : 'error'](message, fields);
}

/** Returns whether an error is a fault of the journal, and the call may go well later. What it refuses for good stays so. */
export function mayPass(error: unknown): boolean {
  if (!isSluiceError(error) || isRefusedForGood(error)) return false;
  return error.code.startsWith('database-') || error.code.startsWith('journal-');
}

/** Milliseconds between two tries of work that waits for the journal. */
export const againMs = 100;

/**
 * Does something that waits if the journal is away for a while.
 *
 * @param work is tried again after a failure: the journal may have what the try before has written.
 * @param mayWait asked after each failure that may pass: if it says no, that is the end.
 * @throws what it throws, if that does not pass, or the signal aborts, or the right to write is lost.
 */
export async function patiently<T>(
  clock: Clock,
  signal: StopSignal,
  work: (isAgain: boolean) => Promise<T>,
  mayWait: (error: unknown, isAgain: boolean) => boolean = () => true,
): Promise<T> {
  for (let isAgain = false; ; isAgain = true)
    try {
      return await work(isAgain);
    } catch (error) {
      const isOver = !mayPass(error) || isSluiceError(error, 'journal-lost');
      if (isOver || !mayWait(error, isAgain)) throw error;
      if (!(await pause(clock, againMs, signal))) throw error;
    }
}
