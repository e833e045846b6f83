import type { Clock, TimerHandle } from '../../../kernel/index.js';
import { usualKeepForMs } from '../sqlite/retention.js';
import type { PostgresBatches } from './postgres-batches.js';
import type { SharedTransaction } from './rows/postgres-rows.js';
import { dispatchesTable, sendsTable, updatesTable } from './rows/postgres-tables.js';
import { dropExpired } from './rows/working-values.js';

/** Milliseconds between two sweeps. */
const sweepEveryMs = 600_000;

/** Rows that one transaction looks at, and drops, at most. */
const rowsAtOnce = 500;

/** The rows that are done with. The sends of a message that has not ended stay, because it may need them. */
const done = [
  { table: dispatchesTable, isDone: 'kept.occurred_at_ms < $1' },
  {
    table: sendsTable,
    isDone: `kept.ended_at_ms < $1 AND NOT EXISTS (SELECT 1 FROM sluice_updates AS of
      WHERE of.event_id = kept.correlation_id AND of.state <> 'ended')`,
  },
  { table: updatesTable, isDone: `kept.ended_at_ms < $1 AND kept.state = 'ended'` },
] as const;

/** Drops the rows of a journal that ended long ago, each ten minutes, a few at a time between its writes. */
export function sweepPostgres(
  batches: PostgresBatches,
  clock: Clock,
  keepForMs = usualKeepForMs,
): Disposable {
  let isClosed = false;
  let timer: TimerHandle | undefined;
  /** Looks at the rows after one, in their order. @returns the last of them, if there may be old rows behind it. */
  const dropAfter = async (
    seq: number,
    { table, isDone }: (typeof done)[number],
    beforeMs: number,
  ): Promise<number | undefined> => {
    const [seen] = await batches.write(({ query }) =>
      query(
        `WITH seen AS (SELECT seq, ${table.timeColumn} AS at FROM ${table.name}
            WHERE seq > $2 ORDER BY seq LIMIT ${rowsAtOnce}),
          gone AS (DELETE FROM ${table.name} AS kept WHERE kept.seq = ANY(ARRAY(SELECT seq FROM seen)) AND ${isDone})
          SELECT max(seq) AS last, min(at) < $1 AS has_old FROM seen`,
        [beforeMs, seq],
      ),
    );
    return seen?.['has_old'] === true ? Number(seen['last']) : undefined;
  };
  const sweep = async (): Promise<void> => {
    const nowMs = clock.now();
    for (const rows of done)
      for (let seq: number | undefined = 0; seq !== undefined && !isClosed; )
        seq = await dropAfter(seq, rows, nowMs - keepForMs);
    const dropping = ({ query }: SharedTransaction) => dropExpired(query, nowMs, rowsAtOnce);
    while (!isClosed) if ((await batches.write(dropping, { isAlone: true })) === 0) break;
  };
  const begin = (): void => {
    void sweep()
      .catch(() => undefined) // the writes that the database refuses tell of it
      .finally(() => {
        if (isClosed) return;
        timer = clock.setTimeout(begin, sweepEveryMs);
        timer.unref?.();
      });
  };
  begin();
  return {
    [Symbol.dispose]: () => {
      isClosed = true;
      if (timer !== undefined) clock.clearTimeout(timer);
    },
  };
}
