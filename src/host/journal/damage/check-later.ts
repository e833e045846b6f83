import type { Clock, SluiceError } from '../../../kernel/index.js';
import { isSluiceError } from '../../../kernel/index.js';
import { checkInChild } from '../../sqlite/check-in-child.js';
import type { SqliteDatabase } from '../../sqlite/open-sqlite.js';
import { examineRows } from '../rows/examine-rows.js';
import { damageError } from '../rows/table-rows.js';

/** The milliseconds that are left to other work, for each millisecond of looking at rows. */
const restFactor = 3;

/**
 * Looks at all of a journal that is in use: every page and index in a process of its own, then every row with its sums, a few at
 * a time. Never rejects.
 *
 * @returns the first damage; `undefined` if there is none, or if the signal has aborted.
 * @example
 * const problem = await checkLater(database, systemClock, signal);
 */
export async function checkLater(
  database: SqliteDatabase,
  clock: Clock,
  signal: AbortSignal,
): Promise<SluiceError | undefined> {
  const problem = await checkInChild(database.path, signal);
  if (problem !== undefined || signal.aborted) return problem;
  try {
    let fromMs = clock.monotonicMs();
    for (const [first] of examineRows(database)) {
      if (first !== undefined) return damageError(database.path, first);
      await rest(clock, (clock.monotonicMs() - fromMs) * restFactor);
      if (signal.aborted) return undefined;
      fromMs = clock.monotonicMs();
    }
    return undefined;
  } catch (error) {
    return isSluiceError(error) && !signal.aborted ? error : undefined;
  }
}

function rest(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    if (ms === 0) setImmediate(resolve);
    else clock.setTimeout(resolve, ms).unref?.();
  });
}
