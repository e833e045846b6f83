import type { SqliteDatabase } from '../database/open-sqlite.js';
import { journalError } from '../errors.js';
import { journalTables } from './journal-rows.js';

/** Written into the file's head: "SLUJ". */
export const applicationId = 0x534c554a;

/** The version of the statements below, and of what a row may hold. No release has written an earlier one. */
export const schemaVersion = 4;

/** The condition of an index of what has not ended; a query that is to use that index says it in the same words. */
export const isOpenUpdate = `state IN ('accepted', 'handling')`;

/** The condition of an index of what has not ended or is a dead letter. */
export const isNotEnded = `state <> 'ended'`;

/** The condition of the index of sends that have not ended. */
export const isOpenSend = `state IN ('prepared', 'sending')`;

/** The tables and indexes of a journal. */
export const schema: readonly string[] = [
  ...journalTables.map(({ sql }) => sql),
  `CREATE INDEX open_updates ON updates (seq) WHERE ${isNotEnded}`,
  `CREATE INDEX updates_of_lane ON updates (lane, seq) WHERE ${isOpenUpdate}`,
  'CREATE INDEX sends_of ON sends (correlation_id)',
  `CREATE INDEX open_sends ON sends (seq) WHERE ${isOpenSend}`,
  'CREATE INDEX dispatches_by_event ON dispatches (event_id)',
  'CREATE INDEX dispatches_by_correlation ON dispatches (correlation_id)',
  'CREATE INDEX transcript_of ON transcripts (session_id, seq)',
  'CREATE UNIQUE INDEX key_values_by_key ON key_values (namespace, key)',
  'CREATE INDEX key_values_that_expire ON key_values (expires_at_ms) WHERE expires_at_ms IS NOT NULL',
];

/** Makes the tables within a transaction, and marks the file as a journal of this version. */
export function makeSchema(database: SqliteDatabase): void {
  for (const sql of schema) database.exec(sql);
  database.exec(`PRAGMA application_id = ${applicationId}`);
  database.exec(`PRAGMA user_version = ${schemaVersion}`);
}

/**
 * Compares the tables and indexes of a file with those that this version makes, letter by letter.
 *
 * @param wanted by default all of them.
 * @throws SluiceError `database-damaged`, which names the first that differs.
 */
export function checkSchema(database: SqliteDatabase, wanted = schema): void {
  const kept = new Set(
    database
      .prepare('SELECT sql FROM sqlite_schema')
      .all()
      .map(({ sql }) => sql),
  );
  const missing = wanted.find((sql) => !kept.has(sql));
  if (missing === undefined) return;
  const problem = `its schema is not what it was made with: ${/^CREATE \w+ \w+/.exec(missing)?.[0]} is missing or changed`;
  throw journalError('database-damaged', { path: database.path, problem });
}
