import { existsSync, readFileSync } from 'node:fs';

/** The writes of a journal, as its write-ahead log has them. */
export interface LogWrites {
  /** Transactions: each ends with one sync of the disk. */
  readonly syncs: number;
  /** Pages of 4,096 bytes. */
  readonly pages: number;
}

/**
 * Counts what the write-ahead log of a database holds. The log begins anew after a thousand pages, so a test counts few writes
 * at a time.
 */
export function logWrites(path: string): LogWrites {
  const log = existsSync(`${path}-wal`) ? readFileSync(`${path}-wal`) : Buffer.alloc(0);
  if (log.length < 32) return { syncs: 0, pages: 0 };
  const salt = log.toString('hex', 16, 24);
  let syncs = 0;
  let pages = 0;
  for (let at = 32; at + 4_120 <= log.length; at += 4_120) {
    if (log.toString('hex', at + 8, at + 16) !== salt) break;
    pages++;
    if (log.readUInt32BE(at + 4) !== 0) syncs++; // the last frame of a transaction says how many pages there are
  }
  return { syncs, pages };
}
