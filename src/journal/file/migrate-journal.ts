import type { SqliteDatabase, SqliteRow } from '../database/open-sqlite.js';
import { brokenColumn, type StoredRow } from '../database/sqlite-values.js';
import { journalTables, keyValuesTable, slotColumn } from '../rows/journal-rows.js';
import { makeSchema, schemaVersion, sinceVersion2 } from '../rows/journal-schema.js';
import type { SummedTable } from '../rows/row-sums.js';
import {
  continueNumbers,
  type Damage,
  damageError,
  numberGiven,
  tableRows,
} from '../rows/table-rows.js';

/** Columns that version 1 did not have, or had by another name. */
const inVersion1: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  updates: { lane: 'NULL', slot: 'NULL' },
  sends: { shown: 'NULL', slot: 'NULL' },
  sessions: { seq: 'rowid', slot: 'NULL' },
};

const indexesOfVersion1 = [
  'open_updates',
  'sends_of',
  'open_sends',
  'dispatches_by_event',
  'dispatches_by_correlation',
  'transcript_of',
];

/** Counts the messages and the prompts of a transcript up to each row. */
const transcriptSizes = `
  ALTER TABLE version_1_transcripts ADD COLUMN messages INTEGER;
  ALTER TABLE version_1_transcripts ADD COLUMN prompts INTEGER;
  UPDATE version_1_transcripts SET messages = sizes.messages, prompts = sizes.prompts FROM (
    SELECT seq, row_number() OVER of_one AS messages, sum(iif(
      CASE WHEN json_valid(body) THEN
        json_extract(body, '$.role') = 'user' AND json_type(body, '$.content') = 'text'
      END, 1, 0)) OVER of_one AS prompts
    FROM version_1_transcripts WINDOW of_one AS (PARTITION BY session_id ORDER BY seq)
  ) AS sizes WHERE sizes.seq = version_1_transcripts.seq`;

/** Rows that are copied at once. */
const rowsAtOnce = 64;

const tablesOfVersion1 = journalTables.filter((table) => table !== keyValuesTable);

/**
 * Makes a journal of version 2 or 3 one of today, in one transaction: it gets the table of key values, if it has none, and its rows
 * may have slots. A row that is there has none, and its sums stay as they are.
 */
export function migrateNewer(database: SqliteDatabase, version: number): void {
  database.transaction(() => {
    if (version === 2) for (const sql of sinceVersion2) database.exec(sql);
    for (const { name, columns } of journalTables)
      if (columns.includes('slot')) database.exec(`ALTER TABLE ${name} ADD COLUMN ${slotColumn}`);
    database.exec(`PRAGMA user_version = ${schemaVersion}`);
  });
}

/**
 * Makes a journal of version 1 one of today: each row gets its sum. It is one transaction: after a crash the file is as it
 * was. The file grows for it, to twice its size at most, and its free pages are used again.
 *
 * @param onDamaged gets each row with a text that is not UTF-8, which is left out. Without it that is an error.
 * @throws SluiceError `database-damaged`: nothing is changed then.
 */
export function migrateVersion1(
  database: SqliteDatabase,
  onDamaged?: (damage: Damage) => void,
): void {
  database.transaction(() => {
    for (const index of indexesOfVersion1) database.exec(`DROP INDEX ${index}`);
    for (const { name } of tablesOfVersion1)
      database.exec(`ALTER TABLE ${name} RENAME TO version_1_${name}`);
    database.exec(transcriptSizes);
    makeSchema(database);
    for (const table of tablesOfVersion1) copyTable(database, table, onDamaged);
    for (const { name } of tablesOfVersion1) database.exec(`DROP TABLE version_1_${name}`);
  });
}

function copyTable(
  database: SqliteDatabase,
  table: SummedTable,
  onDamaged?: (damage: Damage) => void,
): void {
  const { name } = table;
  const rows = tableRows(database, table);
  for (const row of rowsOfVersion1(database, table)) {
    const column = brokenColumn(row);
    if (column === undefined) {
      rows.add(row as SqliteRow); // it has no bytes
      continue;
    }
    const damage = { table: name, row, problem: `${column}: a text that is not UTF-8` };
    if (onDamaged === undefined) throw damageError(database.path, damage);
    onDamaged(damage);
  }
  continueNumbers(database, name, numberGiven(database, `version_1_${name}`));
}

function* rowsOfVersion1(
  database: SqliteDatabase,
  { name, columns }: SummedTable,
): Generator<StoredRow, void> {
  const seq = inVersion1[name]?.['seq'] ?? 'seq';
  const wanted = ['body', ...columns].map(
    (column) => `${inVersion1[name]?.[column] ?? column} AS ${column}`,
  );
  const next = database.prepare(
    `SELECT ${wanted.join(', ')} FROM version_1_${name} WHERE ${seq} > ? ORDER BY ${seq} LIMIT ${rowsAtOnce}`,
  );
  let after = 0;
  for (;;) {
    const read = next.stored(after);
    const last = read.at(-1)?.['seq'];
    if (typeof last !== 'number') return;
    yield* read;
    after = last;
  }
}
