import { isCut } from './record-heads.js';
import type { PostgresQuery } from './rows/connections.js';
import { dispatchesTable, type PostgresTable } from './rows/postgres-tables.js';

/** Milliseconds of a day. A day begins at midnight in UTC. */
export const dayMs = 86_400_000;

/** Milliseconds that a change of the days waits for a lock, because the writes behind it wait as long. */
const lockedForMs = 200;

/** The dispatches of a span of time, in a table of their own. */
interface DayTable {
  readonly name: string;
  /** Milliseconds since 1970: the first moment of the span, and the first after it. */
  readonly fromMs: number;
  readonly untilMs: number;
}

const dateOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);
const nameOf = (day: string): string => `${dispatchesTable.name}_${day.replaceAll('-', '_')}`;

/** The dispatches of no day that has a table, such as those of a host whose clock is wrong. Normally there are none. */
export const otherDispatches: Pick<PostgresTable<unknown>, 'name' | 'timeColumn'> = {
  ...dispatchesTable,
  name: `${dispatchesTable.name}_other`,
};

/** The statements that make the table of dispatches. One table takes all up to tomorrow, and hosts make one for each day after. */
export function dispatchesByDay(nowMs: number): readonly string[] {
  const { name } = dispatchesTable;
  const untilMs = (Math.floor(nowMs / dayMs) + 1) * dayMs;
  return [
    'CREATE SEQUENCE sluice_dispatch_numbers',
    dispatchesTable.sql,
    `CREATE INDEX sluice_dispatches_by_seq ON ${name} (seq)`,
    `CREATE INDEX sluice_dispatches_by_event ON ${name} (event_id)`,
    `CREATE INDEX sluice_dispatches_by_correlation ON ${name} (correlation_id)`,
    `CREATE TABLE ${otherDispatches.name} PARTITION OF ${name} DEFAULT`,
    `CREATE TABLE ${nameOf(`until_${dateOf(untilMs)}`)} PARTITION OF ${name} FOR VALUES FROM (MINVALUE) TO (${untilMs})`,
  ];
}

/**
 * Makes the tables of tomorrow and today, if they are not there. A day of which a dispatch stands in the table of all others gets
 * none: it would be looked for in all of that table, which nobody can write to meanwhile.
 */
export async function makeDays(query: PostgresQuery, nowMs: number): Promise<void> {
  const days = await dayTables(query);
  const todayMs = Math.floor(nowMs / dayMs) * dayMs;
  for (const fromMs of [todayMs + dayMs, todayMs]) {
    if (days.some((one) => one.fromMs <= fromMs && fromMs < one.untilMs)) continue;
    const made = nameOf(dateOf(fromMs));
    const { name: others, timeColumn: time } = otherDispatches;
    await query(
      whileLocked(`IF to_regclass('${made}') IS NULL AND NOT EXISTS (
          SELECT 1 FROM ${others} WHERE ${time} >= ${fromMs} AND ${time} < ${fromMs + dayMs}) THEN
        CREATE TABLE ${made} (LIKE ${dispatchesTable.name} INCLUDING DEFAULTS);
        ALTER TABLE ${dispatchesTable.name} ATTACH PARTITION ${made} FOR VALUES FROM (${fromMs}) TO (${fromMs + dayMs});
      END IF;`),
    );
  }
}

/**
 * Drops the tables of all days that ended before a time, whatever their size.
 *
 * @param cut the slots and the numbers of the heads up to which the records may go, if the journal proves them: a day with a later
 *   record stays.
 */
export async function dropDays(
  query: PostgresQuery,
  beforeMs: number,
  cut?: readonly [slots: readonly number[], numbers: readonly number[]],
): Promise<void> {
  for (const { name, untilMs } of await dayTables(query)) {
    if (untilMs > beforeMs) continue;
    const later = `SELECT 1 FROM ${name} AS kept WHERE NOT ${isCut(1)} LIMIT 1`;
    if (cut !== undefined && (await query(later, cut)).length > 0) continue;
    await query(whileLocked(`DROP TABLE IF EXISTS ${name};`));
  }
}

async function dayTables(query: PostgresQuery): Promise<readonly DayTable[]> {
  const rows = await query(
    `SELECT relname::text AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
      WHERE inhparent = '${dispatchesTable.name}'::regclass ORDER BY 1`,
  );
  return rows.flatMap((row) => {
    const name = String(row['name']);
    const [, until, day = ''] = /_(until_)?(\d{4}_\d\d_\d\d)$/.exec(name) ?? [];
    const atMs = Date.parse(day.replaceAll('_', '-'));
    if (Number.isNaN(atMs)) return []; // that of all others
    return until === undefined
      ? { name, fromMs: atMs, untilMs: atMs + dayMs }
      : { name, fromMs: Number.NEGATIVE_INFINITY, untilMs: atMs };
  });
}

/** One statement, so one transaction, of one host at a time. It fails if a lock is not there in time. */
function whileLocked(sql: string): string {
  return `DO $$ BEGIN
    PERFORM set_config('lock_timeout', '${lockedForMs}', true), pg_advisory_xact_lock(hashtext('sluice days'));
    ${sql}
  END $$`;
}
