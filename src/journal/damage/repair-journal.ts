import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { isSluiceError } from 'sluice-kernel';
import { replaced } from '../backup/replace-journal.js';
import { checkInChild } from '../database/in-child.js';
import { inTurns } from '../database/in-turns.js';
import { logDamage } from '../database/log-damage.js';
import { openSqlite, type SqliteDatabase } from '../database/open-sqlite.js';
import { copyPrivately, newPrivateFile } from '../database/private-file.js';
import { journalError } from '../errors.js';
import {
  checkHead,
  damageOfSchema,
  isCheckedWhole,
  numberOf,
  openJournalFile,
} from '../file/journal-file.js';
import { checkRows, examineRows } from '../rows/examine-rows.js';
import { journalTables } from '../rows/journal-rows.js';
import { checkSchema, schemaVersion } from '../rows/journal-schema.js';
import { rowsPastDamage } from '../rows/read-past-damage.js';
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

/** Rows that are written before other work has its turn. */
const rowsAtOnce = 64;

/**
 * Makes a journal usable again: every row whose sums fit is kept, in a file with new indexes, and every other row goes
 * to a side file. The journal as it was is kept beside it. A journal that is well is left alone.
 *
 * @param stamp a part of the names of the side file and of the copy.
 * @param signal ends it: it is as it was then.
 * @throws its reason; SluiceError `journal-in-use` while a host runs; `journal-not-repaired` if no row can be found: it is as it was then.
 * @example
 * const { moved, sideFile } = await repairJournal('./sluice.db', '20260315', signal);
 */
export async function repairJournal(
  path: string,
  stamp: string,
  signal: AbortSignal,
): Promise<RepairReport> {
  const copy = `${path}.damaged-${stamp}`;
  const sideFile = `${copy}.jsonl`;
  try {
    const repair = async (made: string): Promise<RepairReport> => {
      const problems = await journalProblems(path, signal);
      if (problems.length === 0) return { status: 'well', problems, kept: 0, moved: 0 };
      const { kept, damaged } = await inTurns(copied(path, made, problems), signal);
      writeDurably(sideFile, damaged);
      const moved = damaged.length;
      const left = { ...(moved > 0 && { sideFile }), copy };
      return {
        status: 'repaired',
        problems: problems.slice(0, mostProblems),
        kept,
        moved,
        ...left,
      };
    };
    return (await replaced(path, signal, repair, `.damaged-${stamp}`)).more;
  } catch (error) {
    rmSync(sideFile, { force: true });
    const cause = damageOfSchema(path, error);
    if (!isSluiceError(cause, 'database-damaged')) throw cause;
    const { problem } = cause.details;
    throw journalError('journal-not-repaired', { path, problem }, { cause });
  }
}

/** Copies all good rows into a new file. Pages that can be written anew are, so that what they lead to is read, too. */
function* copied(
  path: string,
  target: string,
  problems: string[],
): Generator<void, { readonly kept: number; readonly damaged: readonly string[] }> {
  const damaged: string[] = [];
  const onDamaged = (damage: Damage): void => {
    if (damage.row === undefined) problems.push(damage.problem);
    else damaged.push(sideLine(damage));
  };
  newPrivateFile(target, path);
  using to = openJournalFile(target, { isOwner: true });
  to.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const { source, isOwnHead } = sourceOf(path, target);
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
  to.exec('BEGIN');
  if (!isEmpty)
    for (const table of journalTables) kept += yield* copyTable(from, to, table, onDamaged);
  new SqliteKeyValues(to, () => 0).recount();
  to.exec('COMMIT');
  if (!isOwnHead && kept === 0)
    throw journalError('database-damaged', { path, problem: problems[0] ?? '' }); // nothing says that it is a journal
  to.check(); // it is well now
  yield* checkRows(to);
  to.exec('PRAGMA journal_mode = DELETE'); // it takes its log in, and can get another name
  return { kept, damaged };
}

/** Copies the journal to where it may be mended: as it is, or else with a new head, and then without its log if that has a damaged head. */
function sourceOf(path: string, target: string) {
  for (const [at, suffixes] of [['', '-wal'], ['', '-wal'], ['']].entries()) {
    const source = `${target}${at}`;
    for (const suffix of suffixes) copyPrivately(path + suffix, source + suffix);
    if (at > 0) fixHead(source, target);
    if (hasHead(source)) return { source, isOwnHead: at === 0 };
  }
  return { source: `${target}0`, isOwnHead: true };
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
 * @param signal ends it.
 * @throws its reason; SluiceError if it cannot be opened at all, or is no journal.
 */
export async function journalProblems(path: string, signal: AbortSignal): Promise<string[]> {
  const problems: string[] = [];
  const isSmall = isCheckedWhole(path);
  const inPages = isSmall ? undefined : await checkInChild(path, signal);
  if (inPages !== undefined) problems.push(String(inPages.details['problem']));
  const look = (work: () => void): void => void looked(path, problems, work);
  const inLog = logDamage(path);
  if (inLog !== undefined) problems.push(inLog);
  else look(() => openSqlite(path, { readonly: true }).close()); // as a host would, which does not read past anything
  try {
    using database = openSqlite(path, { isDamageExpected: true });
    if (isSmall) look(() => database.check());
    const isEmpty = numberOf(database, 'SELECT count(*) FROM sqlite_schema') === 0;
    if (isEmpty) return problems;
    checkHead(database);
    look(() => checkSchema(database));
    await inTurns(problemsOfRows(database, problems), signal);
  } catch (error) {
    if (signal.aborted) throw error;
    look(() => {
      throw error;
    });
  }
  return [...new Set(problems)];
}

function* problemsOfRows(database: SqliteDatabase, problems: string[]): Generator<void, void> {
  for (const rows of examineRows(database)) {
    problems.push(...rows.map(damageLine));
    yield;
  }
}

function* copyTable(
  from: SqliteDatabase,
  to: SqliteDatabase,
  table: SummedTable,
  onDamaged: (damage: Damage) => void,
): Generator<void, number> {
  const { rows, problem } = yield* rowsPastDamage(from, table, 'true', []);
  if (problem !== undefined)
    onDamaged({ table: table.name, problem: `${table.name} cannot be read whole: ${problem}` });
  const target = tableRows(to, table);
  let kept = 0;
  for (const row of rows) {
    const problem = rowProblem(table, row) ?? whyNotAdded(() => target.add(row as never)); // its texts are texts
    if (problem === undefined) kept++;
    else onDamaged({ table: table.name, row, problem });
    if (kept % rowsAtOnce === 0) yield;
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
  newPrivateFile(path);
  const file = openSync(path, 'r+');
  try {
    for (const line of lines) writeSync(file, `${line}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
