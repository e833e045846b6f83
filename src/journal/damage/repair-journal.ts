import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { isSluiceError } from 'sluice-kernel';
import { logDamage } from '../database/log-damage.js';
import { openSqlite, type SqliteDatabase } from '../database/open-sqlite.js';
import { copyPrivately, entryAt } from '../database/private-file.js';
import { journalError } from '../errors.js';
import {
  checkHead,
  damageOfSchema,
  lockJournal,
  numberOf,
  openJournalFile,
  writeAnew,
} from '../file/journal-file.js';
import { examineRows } from '../rows/examine-rows.js';
import { journalTables } from '../rows/journal-rows.js';
import { checkSchema, schemaVersion } from '../rows/journal-schema.js';
import { rowProblem, type SummedTable } from '../rows/row-sums.js';
import { SqliteKeyValues } from '../rows/sqlite-key-values.js';
import {
  continueNumbers,
  type Damage,
  damageLine,
  numberGiven,
  tableRows,
} from '../rows/table-rows.js';
import { fixHead, fixInnerPages } from './fix-pages.js';
import { readPastDamage } from './read-past-damage.js';

/** The damage that a repair found, and the rows that it kept and moved. */
interface RepairReport {
  /** `well`: nothing was wrong, and nothing was done. */
  readonly status: 'well' | 'repaired';
  /** The problems, in words: at most a hundred of them. */
  readonly problems: readonly string[];
  /** Rows that are in the journal now. */
  readonly kept: number;
  /** Rows that are in the side file instead: a line of JSON each, with the bytes of texts in base64. */
  readonly moved: number;
  readonly sideFile?: string;
  /** The journal as it was. */
  readonly copy?: string;
}

/** Problems that a report names. */
const mostProblems = 100;

/**
 * Makes a journal usable again: every row whose sums fit is kept, in a file with new indexes, and every other row goes
 * to a side file. The journal as it was is kept beside it. A journal that is well is left alone.
 *
 * @param stamp a part of the names of the side file and of the copy.
 * @throws SluiceError `journal-in-use` while a host runs; `journal-not-repaired` if no row can be found: it is as it was then.
 * @example
 * const { moved, sideFile } = repairJournal('./sluice.db', '20260315');
 */
export function repairJournal(path: string, stamp: string): RepairReport {
  using _lock = lockJournal(path);
  try {
    return repaired(path, stamp);
  } catch (error) {
    const cause = damageOfSchema(path, error);
    if (!isSluiceError(cause, 'database-damaged')) throw cause;
    const { problem } = cause.details;
    throw journalError('journal-not-repaired', { path, problem }, { cause });
  }
}

function repaired(path: string, stamp: string): RepairReport {
  const problems: string[] = [];
  looked(path, problems, () => problems.push(...journalProblems(path)));
  if (problems.length === 0) return { status: 'well', problems, kept: 0, moved: 0 };
  const copy = `${path}.damaged-${stamp}`;
  const sideFile = `${copy}.jsonl`;
  const target = `${path}.repaired`;
  for (const suffix of ['', '-wal']) copyPrivately(path + suffix, copy + suffix);
  removeDatabase(target); // of a repair that was interrupted
  try {
    const { kept, damaged } = copied(path, target, problems);
    writeDurably(sideFile, damaged);
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
    renameSync(target, path);
    openJournalFile(path, { isOwner: true }).close(); // it is well now
    const moved = damaged.length;
    const told = problems.slice(0, mostProblems);
    const left = { ...(moved > 0 && { sideFile }), copy };
    return { status: 'repaired', problems: told, kept, moved, ...left };
  } catch (error) {
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
    for (const suffix of ['', '-wal'])
      if (existsSync(copy + suffix)) renameSync(copy + suffix, path + suffix); // it is as it was
    rmSync(sideFile, { force: true });
    throw error;
  } finally {
    removeDatabase(target);
  }
}

/** Copies all good rows into a new file. Pages that can be written anew are, so that what they lead to is read, too. */
function copied(
  path: string,
  target: string,
  problems: string[],
): { readonly kept: number; readonly damaged: readonly string[] } {
  const damaged: string[] = [];
  const onDamaged = (damage: Damage): void => {
    if (damage.row === undefined) problems.push(damage.problem);
    else damaged.push(sideLine(damage));
  };
  using to = openJournalFile(target, { isOwner: true });
  to.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const source = withHead(path, target);
  {
    using log = openSqlite(source, { isDamageExpected: true });
    log.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }
  fixInnerPages(source);
  using from = openSqlite(source, { isDamageExpected: true });
  const isEmpty = numberOf(from, 'SELECT count(*) FROM sqlite_schema') === 0;
  if (isEmpty) problems.push('no table is left in it');
  else checkHead(from);
  let kept = 0;
  to.transaction(() => {
    if (!isEmpty) for (const table of journalTables) kept += copyTable(from, to, table, onDamaged);
    new SqliteKeyValues(to, () => 0).recount();
  });
  if (source !== path && kept === 0)
    throw journalError('database-damaged', { path, problem: problems[0] ?? '' }); // nothing says that it is a journal
  to.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  from.exec('PRAGMA wal_checkpoint(TRUNCATE)'); // no log may be left that would be read into the new file
  return { kept, damaged };
}

/** Returns the journal, or a copy of it with a new head: with its log, if that has no damaged head, too. */
function withHead(path: string, target: string): string {
  if (hasHead(path)) return path;
  for (const suffixes of [['', '-wal'], ['']]) {
    const copy = `${target}${suffixes.length}`;
    for (const suffix of suffixes) copyPrivately(path + suffix, copy + suffix);
    fixHead(copy, target);
    if (hasHead(copy)) return copy;
  }
  return path;
}

/** Returns whether the tables of today can be found. Another version is told from the head itself. */
function hasHead(path: string): boolean {
  return looked(path, [], () => {
    using database = openSqlite(path, { isDamageExpected: true });
    const tables = journalTables.map(({ sql }) => sql);
    if (numberOf(database, 'PRAGMA user_version') === schemaVersion) checkSchema(database, tables);
  });
}

/** Looks for damage. @returns `false` if there is some, which is added to the problems. */
function looked(path: string, problems: string[], work: () => void): boolean {
  try {
    work();
    return true;
  } catch (thrown) {
    const error = damageOfSchema(path, thrown);
    if (!isSluiceError(error, 'database-damaged')) throw error;
    problems.push(String(error.details['problem']));
    return false;
  }
}

/**
 * Lists every damage of a journal in words: of its log, its pages and indexes, its schema and each of its rows.
 *
 * @throws SluiceError if it cannot be opened at all, or is no journal.
 */
export function journalProblems(path: string): string[] {
  const problems: string[] = [];
  const look = (work: () => void): void => void looked(path, problems, work);
  const inLog = logDamage(path);
  if (inLog !== undefined) problems.push(inLog);
  else look(() => openSqlite(path, { readonly: true }).close()); // as a host would, which does not read past anything
  using database = openSqlite(path, { isDamageExpected: true });
  look(() => database.check());
  const isEmpty = numberOf(database, 'SELECT count(*) FROM sqlite_schema') === 0;
  if (isEmpty) return problems;
  checkHead(database);
  look(() => checkSchema(database));
  look(() => {
    for (const rows of examineRows(database)) problems.push(...rows.map(damageLine));
  });
  return [...new Set(problems)];
}

function copyTable(
  from: SqliteDatabase,
  to: SqliteDatabase,
  table: SummedTable,
  onDamaged: (damage: Damage) => void,
): number {
  const { rows, problem } = readPastDamage(from, table, 'true', []);
  if (problem !== undefined)
    onDamaged({ table: table.name, problem: `${table.name} cannot be read whole: ${problem}` });
  const target = tableRows(to, table);
  let kept = 0;
  for (const row of rows) {
    const problem = rowProblem(table, row) ?? whyNotAdded(() => target.add(row as never)); // its texts are texts
    if (problem === undefined) kept++;
    else onDamaged({ table: table.name, row, problem });
  }
  looked(from.path, [], () => continueNumbers(to, table.name, numberGiven(from, table.name))); // else after the last row
  return kept;
}

/** A damaged table may give a row twice. */
function whyNotAdded(add: () => void): string | undefined {
  try {
    add();
    return undefined;
  } catch (error) {
    if (isSluiceError(error, 'database-constraint'))
      return 'its number or its key is that of another row';
    throw error;
  }
}

function sideLine({ table, row = {}, problem }: Damage): string {
  const columns = Object.entries(row).map(([column, value]) => [
    column,
    typeof value === 'number' || value === null
      ? value
      : { base64: Buffer.from(value).toString('base64') },
  ]);
  return JSON.stringify({ table, problem, row: Object.fromEntries(columns) });
}

function writeDurably(path: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  const file = openSync(path, 'wx', 0o600);
  try {
    for (const line of lines) writeSync(file, `${line}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Removes the files of a repair: the new journal, and the copies with a new head. */
function removeDatabase(target: string): void {
  for (const path of [target, `${target}1`, `${target}2`])
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
}

/** The sizes before and after a compaction: bytes of a journal's file with its write-ahead log. */
interface CompactReport {
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

/**
 * Writes the file of a journal anew, without free pages, while no host uses it; from then on it shrinks by itself (durability
 * §5.3). All of it is looked at first. It is one transaction: a process that is killed in it leaves the journal as it was or
 * compacted, and whole either way. The disk needs room for the journal twice more meanwhile.
 *
 * @throws SluiceError `journal-in-use` while a host runs; `database-damaged`, `not-a-journal`, `database-full`: then it is as it was.
 * @example
 * const { bytesBefore, bytesAfter } = compactJournal('./sluice.db');
 */
export function compactJournal(path: string): CompactReport {
  using _lock = lockJournal(path);
  const bytesBefore = bytesOf(path);
  {
    using database = openJournalFile(path, { wholeCheckBytes: Number.POSITIVE_INFINITY });
    writeAnew(database);
  }
  return { bytesBefore, bytesAfter: bytesOf(path) };
}

function bytesOf(path: string): number {
  return [path, `${path}-wal`].reduce((sum, file) => sum + (entryAt(file)?.size ?? 0), 0);
}
