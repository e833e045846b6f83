import type { PostgresQuery } from './rows/connections.js';

/** The milliseconds of a lease, by default. */
export const usualLeaseMs = 5_000;

/**
 * Has the database end a transaction whose process says nothing more for so many milliseconds, as text: that
 * process was stopped or cut off, and would hold its row of the hosts for as long as its connection seems to live.
 */
export const stalledAfter = (ms: string): string =>
  `set_config('idle_in_transaction_session_timeout', ${ms}, true)`;

/** Begins a transaction that needs no right. */
export async function unfenced(query: PostgresQuery): Promise<string> {
  const [row] = await query('SELECT pg_current_xact_id()::text AS id');
  return String(row?.['id']);
}

/** Lets a command write beside the hosts, which learn of it with their next renewal. */
export async function besideHosts(query: PostgresQuery): Promise<string> {
  const [row] = await query(
    `UPDATE sluice_journal SET touched = touched + 1
      RETURNING pg_current_xact_id()::text AS id, ${stalledAfter('$1')}`,
    [String(usualLeaseMs)],
  );
  return String(row?.['id']);
}

/** Gives attempts at updates back, each once, that were broken off because their host was stalled: they do not count (durability §7.8). */
export async function releaseAttempts(
  query: PostgresQuery,
  stalled: readonly (readonly [id: string, attempt: number])[],
): Promise<void> {
  if (stalled.length === 0) return;
  await query(
    `UPDATE sluice_updates SET attempts = attempts - 1
      FROM unnest($1::text[], $2::int4[]) AS stalled (id, attempt)
      WHERE event_id = id AND attempts = attempt AND state = 'handling'`,
    [stalled.map(([id]) => id), stalled.map(([, attempt]) => attempt)],
  );
}
