import type { Clock, TimerHandle } from '../../../kernel/index.js';
import { usualKeepForMs } from '../sqlite/retention.js';
import type { PostgresBatches } from './postgres-batches.js';
import { dropExpired } from './postgres-key-values.js';

/** Milliseconds between two sweeps. */
const sweepEveryMs = 600_000;

/** Rows that one transaction drops, at most. */
const rowsAtOnce = 500;

/** The rows that are done with. The sends of a message that has not ended stay, because it may need them. */
const done = [
  { name: 'sluice_dispatches', isDone: 'occurred_at_ms < $1' },
  {
    name: 'sluice_sends',
    isDone: `ended_at_ms < $1 AND NOT EXISTS (SELECT 1 FROM sluice_updates AS of
      WHERE of.event_id = sluice_sends.correlation_id AND of.state <> 'ended')`,
  },
  { name: 'sluice_updates', isDone: `ended_at_ms < $1 AND state = 'ended'` },
] as const;

/** Drops the rows of a journal that ended long ago, each ten minutes, a few at a time between its writes. */
export function sweepPostgres(
  batches: PostgresBatches,
  clock: Clock,
  keepForMs = usualKeepForMs,
): Disposable {
  let isClosed = false;
  let timer: TimerHandle | undefined;
  const untilNone = async (drop: () => Promise<number>): Promise<void> => {
    while (!isClosed && (await drop()) > 0);
  };
  const sweep = async (): Promise<void> => {
    const nowMs = clock.now();
    for (const { name, isDone } of done)
      await untilNone(() =>
        batches.write(async ({ query }) => {
          const some = `SELECT seq FROM ${name} WHERE ${isDone} ORDER BY seq LIMIT ${rowsAtOnce}`;
          const sql = `DELETE FROM ${name} WHERE seq IN (${some}) RETURNING seq`;
          return (await query(sql, [nowMs - keepForMs])).length;
        }),
      );
    await untilNone(() => batches.write(({ query }) => dropExpired(query, nowMs, rowsAtOnce)));
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
