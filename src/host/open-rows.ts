import { isSluiceError } from '../kernel/index.js';
import { openUpdates, type UpdateFilter, type UpdateRecord } from './journal/journal.js';
import type { KeepingParts } from './keeping.js';

/** Some of the open updates, in their order. */
export interface OpenRows {
  readonly rows: readonly UpdateRecord[];
  /** There are no more behind them. */
  readonly areLast: boolean;
}

/**
 * Reads open updates. One whose row is damaged is passed over, and told once: only what needs that row fails (durability §1.6).
 *
 * @throws what the journal throws else.
 */
export async function readOpen(
  { journal, backlog, logger }: KeepingParts,
  filter: Pick<UpdateFilter, 'lane'> & { readonly afterSeq: number; readonly limit: number },
): Promise<OpenRows> {
  let { afterSeq, limit } = filter;
  for (;;)
    try {
      const rows = await journal.updates({ ...filter, states: openUpdates, afterSeq, limit });
      return { rows, areLast: rows.length < limit };
    } catch (error) {
      const damaged = damagedRowOf(error);
      if (damaged === undefined || damaged <= afterSeq) throw error;
      if (limit > 1) {
        limit = 1; // those before it are good
        continue;
      }
      afterSeq = damaged;
      if (backlog.damaged.has(damaged)) continue;
      backlog.damaged.add(damaged);
      logger.error('an update of the journal is damaged, and is not handled', { error });
    }
}

/** The number of the damaged row that an error tells of. */
function damagedRowOf(error: unknown): number | undefined {
  if (!isSluiceError(error) || error.code !== 'database-damaged') return undefined;
  const { table, seq } = error.details;
  return table === 'updates' && typeof seq === 'number' ? seq : undefined;
}
