import type { SqliteDatabase } from '../sqlite/open-sqlite.js';
import { numberOf } from './journal-file.js';

/** How long a journal keeps what is done with. What has not ended, and dead letters, are kept whatever this says. */
export interface Retention {
  /** Milliseconds; 7 days where unsaid. An update that comes again after that is taken for a new one. */
  readonly keepForMs?: number;
  /** Bytes that the file may have before the oldest goes, dispatches first; 256 MiB where unsaid. */
  readonly keepBytes?: number;
}

const dayMs = 86_400_000;

/** Bytes that a journal may have where nobody says. */
export const usualKeepBytes = 256 * 1024 * 1024;

const ended = "state = 'ended'";
const endedSends = "state IN ('sent', 'cancelled', 'failed')";
/** A message that has not ended may need the sends that it made. */
const notOpen = `(correlation_id IS NULL OR correlation_id NOT IN (SELECT event_id FROM updates WHERE state <> 'ended'))`;

/** Drops what is older or more than is kept. Within a transaction of its own; the file's free pages are used again. */
export function dropOld(
  database: SqliteDatabase,
  { keepForMs = 7 * dayMs, keepBytes = usualKeepBytes }: Retention,
  nowMs: number,
): void {
  const before = nowMs - keepForMs;
  database.transaction(() => {
    for (const [table, condition] of [
      ['dispatches', 'occurred_at_ms < ?'],
      ['updates', `${ended} AND ended_at_ms < ?`],
      ['sends', `${endedSends} AND ended_at_ms < ? AND ${notOpen}`],
    ] as const)
      database.prepare(`DELETE FROM ${table} WHERE ${condition}`).run(before);
  });
  for (const [table, condition] of [
    ['dispatches', 'true'],
    ['sends', `${endedSends} AND ${notOpen}`],
    ['updates', ended],
  ] as const)
    while (bytesUsed(database) > keepBytes) {
      const oldest = `SELECT seq FROM ${table} WHERE ${condition} ORDER BY seq LIMIT 500`;
      const { changes } = database.transaction(() =>
        database.prepare(`DELETE FROM ${table} WHERE seq IN (${oldest})`).run(),
      );
      if (changes === 0) break;
    }
}

/** Of the file's pages, those that hold something. */
function bytesUsed(database: SqliteDatabase): number {
  const pages =
    numberOf(database, 'PRAGMA page_count') - numberOf(database, 'PRAGMA freelist_count');
  return pages * numberOf(database, 'PRAGMA page_size');
}
