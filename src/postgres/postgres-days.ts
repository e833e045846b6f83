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

const tables: readonly string[] = [
  'CREATE SEQUENCE sluice_dispatch_numbers',
  dispatchesTable.sql,
  `CREATE INDEX sluice_dispatches_by_seq ON ${dispatchesTable.name} (seq)`,
  `CREATE INDEX sluice_dispatches_by_event ON ${dispatchesTable.name} (event_id)`,
  `CREATE INDEX sluice_dispatches_by_correlation ON ${dispatchesTable.name} (correlation_id)`,
  `CREATE TABLE ${otherDispatches.name} PARTITION OF ${dispatchesTable.name} DEFAULT`,
];

/** The statements that make the table of dispatches. One table takes all up to tomorrow, and hosts make one for each day after. */
export function dispatchesByDay(nowMs: number): readonly string[] {
  const { name, untilMs } = tableUntil(nowMs);
  return [
    ...tables,
    `CREATE TABLE ${name} PARTITION OF ${dispatchesTable.name} FOR VALUES FROM (MINVALUE) TO (${untilMs})`,
  ];
}

/** Makes the one table of dispatches of version 2 the first of the days. @param newestMs the time of the newest dispatch in it. */
export function divideDispatches(nowMs: number, newestMs: number): readonly string[] {
  const { name } = dispatchesTable;
  const first = tableUntil(Math.max(nowMs, newestMs));
  return [
    `ALTER INDEX sluice_dispatches_by_event RENAME TO ${first.name}_by_event`, // the new table has them as its own
    `ALTER INDEX sluice_dispatches_by_correlation RENAME TO ${first.name}_by_correlation`,
    `ALTER TABLE ${name} ALTER seq DROP IDENTITY, DROP CONSTRAINT ${name}_pkey`,
    `ALTER TABLE ${name} RENAME TO ${first.name}`,
    ...tables,
    `SELECT setval('sluice_dispatch_numbers', max(seq)) FROM ${first.name}`,
    `ALTER TABLE ${name} ATTACH PARTITION ${first.name} FOR VALUES FROM (MINVALUE) TO (${first.untilMs})`,
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

/** Drops the tables of all days that ended before a time, whatever their size. */
export async function dropDays(query: PostgresQuery, beforeMs: number): Promise<void> {
  for (const { name, untilMs } of await dayTables(query))
    if (untilMs <= beforeMs) await query(whileLocked(`DROP TABLE IF EXISTS ${name};`));
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

/** The table of all up to the end of the day of a time. */
function tableUntil(atMs: number): Pick<DayTable, 'name' | 'untilMs'> {
  const untilMs = (Math.floor(atMs / dayMs) + 1) * dayMs;
  return { name: nameOf(`until_${dateOf(untilMs)}`), untilMs };
}

/** One statement, so one transaction, of one host at a time. It fails if a lock is not there in time. */
function whileLocked(sql: string): string {
  return `DO $$ BEGIN
    PERFORM set_config('lock_timeout', '${lockedForMs}', true), pg_advisory_xact_lock(hashtext('sluice days'));
    ${sql}
  END $$`;
}
