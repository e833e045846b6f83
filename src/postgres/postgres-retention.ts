import { type DoneRows, doneRows, Sweep, usualKeepForMs } from '@sluice/journal/internal';
import type { Clock } from 'sluice-kernel';
import type { PostgresBatches } from './postgres-batches.js';
import { dayMs, dropDays, makeDays, otherDispatches } from './postgres-days.js';
import type { PostgresConnections } from './rows/connections.js';
import type { SharedTransaction } from './rows/postgres-rows.js';
import { dropExpired } from './rows/working-values.js';

/** Rows that one transaction looks at, and drops, at most. */
const rowsAtOnce = 500;

const [dispatches, ...others] = doneRows('sluice_');

/**
 * Drops the rows of a journal that ended long ago, each ten minutes: the dispatches by days, which costs the same however many they
 * are, and all others a few at a time between its writes. If the days cannot be dropped, or a day is too long to keep, dispatches go
 * a few at a time, too.
 */
export function sweepPostgres(
  { query }: PostgresConnections,
  batches: PostgresBatches,
  clock: Clock,
  keepForMs = usualKeepForMs,
): Sweep {
  /** Looks at the rows after one, in their order. @returns the last of them, if there may be old rows behind it. */
  const dropAfter = async (
    seq: number,
    { name, madeAt, endedAt, isDone }: DoneRows,
    beforeMs: number,
  ): Promise<number | undefined> => {
    const [seen] = await batches.write(({ query }) =>
      query(
        `WITH seen AS (SELECT seq, ${madeAt} AS at FROM ${name} WHERE seq > $2 ORDER BY seq LIMIT ${rowsAtOnce}),
          gone AS (DELETE FROM ${name} AS kept WHERE kept.seq = ANY(ARRAY(SELECT seq FROM seen))
            AND kept.${endedAt} < $1 AND ${isDone})
          SELECT max(seq) AS last, min(at) < $1 AS has_old FROM seen`,
        [beforeMs, seq],
      ),
    );
    return seen?.['has_old'] === true ? Number(seen['last']) : undefined;
  };
  const sweep = new Sweep(clock, async (isClosed) => {
    const nowMs = clock.now();
    const dropAll = async (rows: DoneRows, beforeMs: number): Promise<void> => {
      for (let seq: number | undefined = 0; seq !== undefined && !isClosed(); )
        seq = await dropAfter(seq, rows, beforeMs);
    };
    for (const rows of others) await dropAll(rows, nowMs - keepForMs);
    const dropping = ({ query }: SharedTransaction) => dropExpired(query, nowMs, rowsAtOnce);
    while (!isClosed()) if ((await batches.write(dropping, { isAlone: true })) === 0) break;
    await makeDays(query, nowMs).catch(() => undefined); // dispatches of such a day stand in the table of all others
    const isByDay = await dropDays(query, nowMs - keepForMs).then(
      () => keepForMs >= dayMs,
      () => false, // somebody reads them for long, or this user may not change tables
    );
    const name = isByDay ? otherDispatches.name : dispatches.name;
    await dropAll({ ...dispatches, name }, nowMs - keepForMs);
  });
  sweep.start();
  return sweep;
}
