import type { Clock } from 'sluice-kernel';
import type { GroupCommit } from '../commit/group-commit.js';
import { Sweep } from '../commit/sweep.js';
import type { SqliteDatabase } from '../database/open-sqlite.js';
import { numberOf } from '../file/journal-file.js';
import type { Recorder } from '../record/recorder.js';
import { type DoneRows, doneRows } from '../rows/done-rows.js';
import { SqliteKeyValues } from '../rows/sqlite-key-values.js';

/** The time and the room for rows that are done with. Rows that have not ended, and dead letters, are always kept. */
export interface Retention {
  /** Milliseconds, by default 7 days. An update that comes again after that is taken for a new one. */
  readonly keepForMs?: number;
  /** Bytes that the file may have before the oldest rows go, dispatches first; by default 256 MiB. */
  readonly keepBytes?: number;
}

/** Milliseconds for which what has ended is kept by default. */
export const usualKeepForMs = 7 * 86_400_000;

/** Bytes that a journal may have by default. */
const usualKeepBytes = 256 * 1024 * 1024;

/** The part of `keepBytes` that may be free in the file, and the part that may be written between two looks. */
export const growth = 1 / 8;

/** Rows that are looked at together, and pages that are released together. */
const batchRows = 50;
const batchPages = 64;

/** Batches of one slice, at most. */
const batchesPerSlice = 10;

/** The dispatches that may go: a record that proves itself has been cut behind the last of them. */
interface DispatchBound {
  readonly lastDispatch: number;
  readonly onlyDispatches: boolean;
}

/**
 * Drops rows that are too old or too many, and gives free pages back to the disk. Each step of this generator is a slice
 * within a transaction of its caller, and looks at no more rows than `isSpent` gives time for.
 */
function* dropOld(
  database: SqliteDatabase,
  { keepForMs = usualKeepForMs, keepBytes = usualKeepBytes }: Retention,
  nowMs: number,
  isSpent: () => boolean,
  { lastDispatch, onlyDispatches }: DispatchBound,
): Generator<void, void> {
  let batches = 0;
  const isSliceOver = (): boolean => {
    if (++batches < batchesPerSlice && !isSpent()) return false;
    batches = 0;
    return true;
  };
  const isTooLarge = (): boolean => bytesUsed(database) > keepBytes;
  const always = (): boolean => true;
  for (const [beforeMs, isWanted] of [
    [nowMs - keepForMs, always],
    [Number.MAX_SAFE_INTEGER, isTooLarge],
  ] as const)
    for (const rows of onlyDispatches ? doneRows().slice(0, 1) : doneRows()) {
      const lastSeq = rows.name === 'dispatches' ? lastDispatch : Number.MAX_SAFE_INTEGER;
      for (const _ of dropEnded(database, rows, beforeMs, lastSeq, isWanted))
        if (isSliceOver()) yield;
    }
  for (const _ of releasePages(database, keepBytes * growth)) if (isSliceOver()) yield;
  const values = new SqliteKeyValues(database, () => nowMs);
  while (values.dropExpired(nowMs, batchRows) === batchRows) if (isSliceOver()) yield;
}

/**
 * Drops rows that ended before a time, as long as `isWanted`. Rows are numbered as they were made: after a batch of newer rows all rows are
 * newer.
 */
function* dropEnded(
  database: SqliteDatabase,
  { name, madeAt, endedAt, isDone }: DoneRows,
  beforeMs: number,
  lastSeq: number,
  isWanted: () => boolean,
): Generator<void, void> {
  const look = database.prepare(`
    SELECT max(seq) AS last, count(*) AS n, count(CASE WHEN made_at < ? THEN 1 END) AS old FROM
      (SELECT seq, ${madeAt} AS made_at FROM ${name} WHERE seq > ? ORDER BY seq LIMIT ${batchRows})`);
  const drop = database.prepare(
    `DELETE FROM ${name} AS kept WHERE seq > ? AND seq <= ? AND ${endedAt} < ? AND ${isDone}`,
  );
  for (let after = 0; isWanted(); ) {
    const { last, n, old } = look.get(beforeMs, after) ?? {};
    if (Number(old) === 0) return;
    drop.run(after, Math.min(Number(last), lastSeq), beforeMs);
    if (Number(n) < batchRows || Number(last) >= lastSeq) return;
    after = Number(last);
    yield;
  }
}

/** Gives free pages back to the disk. */
function* releasePages(database: SqliteDatabase, keepFreeBytes: number): Generator<void, void> {
  if (numberOf(database, 'PRAGMA auto_vacuum') !== 2) return; // without it the loop would not end
  const keepFree = Math.ceil(keepFreeBytes / numberOf(database, 'PRAGMA page_size'));
  for (;;) {
    const surplus = numberOf(database, 'PRAGMA freelist_count') - keepFree;
    if (surplus <= 0) return;
    database.exec(`PRAGMA incremental_vacuum(${Math.min(surplus, batchPages)})`);
    yield;
  }
}

/** Counts the bytes of the pages that hold something. */
function bytesUsed(database: SqliteDatabase): number {
  const pages =
    numberOf(database, 'PRAGMA page_count') - numberOf(database, 'PRAGMA freelist_count');
  return pages * numberOf(database, 'PRAGMA page_size');
}

/** Milliseconds that one slice may take. */
const sliceMs = 20;

/** Drops the old rows of a file, in slices between its writes: now and then, and when the file has grown. */
export class FileRetention {
  readonly #sweep: Sweep;
  readonly #mostGrown: number;
  /** Characters that were written since the last sweep. */
  #grown = 0;

  constructor(
    database: SqliteDatabase,
    commits: Pick<GroupCommit<unknown>, 'chore'>,
    clock: Clock,
    retention: Retention,
    recorder?: Recorder,
  ) {
    this.#mostGrown = (retention.keepBytes ?? usualKeepBytes) * growth;
    this.#sweep = new Sweep(clock, async () => {
      this.#grown = 0;
      let untilMs = 0;
      const isSpent = (): boolean => clock.monotonicMs() >= untilMs;
      const drop = async (lastDispatch: number, onlyDispatches = false): Promise<void> => {
        const bound = { lastDispatch, onlyDispatches };
        const slices = dropOld(database, retention, clock.now(), isSpent, bound);
        const slice = (): boolean => {
          untilMs = clock.monotonicMs() + sliceMs;
          return slices.next().done !== true;
        };
        while (await commits.chore(slice));
      };
      if (recorder === undefined) return drop(Number.MAX_SAFE_INTEGER);
      const { keepForMs = usualKeepForMs, keepBytes = usualKeepBytes } = retention;
      let cut = await recorder.cut(clock.now() - keepForMs);
      for (;;) {
        await drop(cut.seq, true);
        if (bytesUsed(database) <= keepBytes) break;
        cut = await recorder.cut();
        if (!cut.hasMore) break;
      }
      await drop(cut.seq);
    });
    this.#sweep.start();
  }

  /** Says that so many characters are to be written. */
  grows(characters: number): void {
    this.#grown += characters;
    if (this.#grown < this.#mostGrown) return;
    this.#grown = 0;
    this.#sweep.start();
  }

  close(): void {
    this.#sweep.close();
  }
}
