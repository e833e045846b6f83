import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { logDamage } from '../../../src/journal/database/log-damage.js';
import { openSqlite } from '../../../src/journal/index.js';
import { testFolder } from '../../support/folder.js';

/** The files of a database whose process was killed: its log's index is gone, as after the end of the machine. */
interface Files {
  readonly database: Buffer;
  readonly log: Buffer;
}

function placed({ database, log }: Files): string {
  const path = join(testFolder(), 'state.db');
  writeFileSync(path, database);
  writeFileSync(`${path}-wal`, log);
  return path;
}

/** Writes these texts to what is there, a transaction each, and is killed. */
function written(before: Files | undefined, ...texts: readonly string[]): Files {
  const path = before === undefined ? join(testFolder(), 'state.db') : placed(before);
  const database = openSqlite(path);
  database.exec('CREATE TABLE IF NOT EXISTS notes (body TEXT)');
  const insert = database.prepare('INSERT INTO notes VALUES (?)');
  for (const text of texts) database.transaction(() => insert.run(text));
  const files = { database: readFileSync(path), log: readFileSync(`${path}-wal`) };
  database.close();
  return files;
}

/** A log over which a shorter one was written, from its start. */
const over = (longer: Buffer, shorter: Buffer): Buffer =>
  Buffer.concat([shorter, longer.subarray(shorter.length)]);

describe('the log of a database', () => {
  it('with transactions that the disk refused behind its end is not damaged (fault 35, durability §1.11)', () => {
    const kept = written(undefined, 'first');
    const longest = written(kept, 'x'.repeat(90_000)).log; // it was written, and its sync failed
    const longer = written(kept, 'y'.repeat(45_000)).log; // so did the one that was written over it
    const last = written(kept, 'second').log; // and this one was persisted
    const path = placed({ database: kept.database, log: over(longest, over(longer, last)) });
    using database = openSqlite(path);
    expect(database.prepare('SELECT body FROM notes').all()).toEqual([
      { body: 'first' },
      { body: 'second' },
    ]);
  });

  it('with a bad frame before a transaction that was persisted is damaged (durability §1.11)', () => {
    const { database, log } = written(undefined, 'first', 'second', 'third', 'fourth');
    const at = log.indexOf('second');
    expect(at).toBeGreaterThan(0);
    log[at] = (log[at] ?? 0) ^ 1;
    const path = placed({ database, log });
    expect(() => openSqlite(path)).toThrow(/frame \d+ of its write-ahead log is damaged/);
    expect(existsSync(`${path}-wal`)).toBe(true);
  });

  it('with one bit flipped in any frame before its last transaction is damaged: in the head, and in each part of the page (durability §1.11)', () => {
    const { database, log } = written(undefined, 'first', 'x'.repeat(5_000), 'third', 'fourth');
    const path = placed({ database, log });
    expect(logDamage(path)).toBeUndefined();
    const frameBytes = 24 + log.readUInt32BE(8);
    const count = Math.floor((log.length - 32) / frameBytes);
    const all = Array.from({ length: count }, (_, frame) => 32 + frame * frameBytes);
    const pagesAt = (at: number): number => log.readUInt32BE(at + 4);
    const last = all.filter((at) => pagesAt(at) !== 0).at(-2) ?? 0;
    expect(Math.log2(pagesAt(last)) % 1).toBe(0); // with one bit flipped it seems to end no transaction
    const frames = all.filter((at) => at <= last);
    expect(frames.length).toBeGreaterThan(5);
    const unseen: string[] = [];
    for (const at of frames)
      for (let bit = 0; bit < frameBytes * 8; bit += bit >= 24 * 8 ? 4_001 : at === last ? 1 : 7) {
        const damaged = Buffer.from(log);
        const byte = at + (bit >> 3);
        damaged[byte] = (damaged[byte] ?? 0) ^ (1 << (bit & 7));
        writeFileSync(`${path}-wal`, damaged);
        if (!/frame \d+ of/.test(logDamage(path) ?? '')) unseen.push(`${at}: bit ${bit}`);
      }
    expect(unseen).toEqual([]);
  });
});
