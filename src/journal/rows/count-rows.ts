import type { JournalCounts } from '../journal-counts.js';
import { isNotEnded, isOpenSend } from './journal-schema.js';

/** The rows that are counted at most. */
const mostCounted = 100_000;

/**
 * Counts the rows of a journal that have not ended.
 *
 * @param prefix of the names of its tables.
 * @param read gives the rows of a statement.
 */
export async function countRows(
  prefix: string,
  read: (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>,
): Promise<JournalCounts> {
  const count = async (table: string, condition: string): Promise<Record<string, number>> => {
    const states = `SELECT state FROM ${prefix}${table} WHERE ${condition} LIMIT ${mostCounted}`;
    const sql = `SELECT state, count(*) AS rows FROM (${states}) AS counted GROUP BY state`;
    const rows = await read(sql);
    return Object.fromEntries(rows.map((row) => [String(row['state']), Number(row['rows'])]));
  };
  const dead = `SELECT ended_at_ms FROM ${prefix}updates WHERE ${isNotEnded} AND state = 'dead' LIMIT ${mostCounted}`;
  const [row] = await read(`SELECT min(ended_at_ms) AS oldest FROM (${dead}) AS letters`);
  const oldestDeadAtMs = row?.['oldest'];
  return {
    ...(typeof oldestDeadAtMs === 'number' && { oldestDeadAtMs }),
    updates: { accepted: 0, handling: 0, dead: 0, ...(await count('updates', isNotEnded)) },
    sends: { prepared: 0, sending: 0, ...(await count('sends', isOpenSend)) },
  };
}
