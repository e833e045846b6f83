import { hostError } from '../../errors.js';
import type { SqliteDatabase } from '../../sqlite/open-sqlite.js';

/** Written into the file's head: "SLUJ". */
export const applicationId = 0x534c554a;

/** Of the statements below. */
export const schemaVersion = 2;

/** The condition of an index of what has not ended; a query that is to use that index says it in the same words. */
export const isOpenUpdate = `state IN ('accepted', 'handling')`;

/** The condition of an index of what has not ended or is a dead letter. */
export const isNotEnded = `state <> 'ended'`;

/**
 * The tables and indexes of a journal. Each row has two sums: `body_sum` is that of its body, and `sum` that of its other
 * columns with `body_sum` (`rowSums`). A row of a transcript says how many messages, and how many prompts among them, the
 * transcript has up to it.
 */
export const schema: readonly string[] = [
  `CREATE TABLE updates (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id TEXT NOT NULL UNIQUE,
    channel TEXT NOT NULL,
    account_id TEXT NOT NULL,
    update_id TEXT,
    lane TEXT,
    received_at_ms REAL NOT NULL,
    body TEXT,
    state TEXT NOT NULL CHECK (state IN ('accepted', 'handling', 'ended', 'dead')),
    attempts INTEGER NOT NULL,
    accepted_at_ms REAL NOT NULL,
    ended_at_ms REAL,
    outcome TEXT,
    reason TEXT,
    body_sum INTEGER,
    sum INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX open_updates ON updates (seq) WHERE ${isNotEnded}`,
  `CREATE INDEX updates_of_lane ON updates (lane, seq) WHERE ${isOpenUpdate}`,
  `CREATE TABLE sends (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    send_id TEXT NOT NULL UNIQUE,
    correlation_id TEXT,
    kind TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    channel TEXT,
    account_id TEXT,
    body TEXT NOT NULL,
    shown TEXT,
    state TEXT NOT NULL CHECK (state IN ('prepared', 'sending', 'sent', 'cancelled', 'failed')),
    attempts INTEGER NOT NULL,
    prepared_at_ms REAL NOT NULL,
    ended_at_ms REAL,
    provider_message_id TEXT,
    cause TEXT,
    reason TEXT,
    body_sum INTEGER NOT NULL,
    sum INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX sends_of ON sends (correlation_id)`,
  `CREATE INDEX open_sends ON sends (seq) WHERE state IN ('prepared', 'sending')`,
  `CREATE TABLE dispatches (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id TEXT NOT NULL,
    family TEXT NOT NULL,
    correlation_id TEXT NOT NULL,
    session_id TEXT,
    status TEXT NOT NULL,
    occurred_at_ms REAL NOT NULL,
    omitted TEXT,
    body TEXT NOT NULL,
    body_sum INTEGER NOT NULL,
    sum INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX dispatches_by_event ON dispatches (event_id)`,
  `CREATE INDEX dispatches_by_correlation ON dispatches (correlation_id)`,
  `CREATE TABLE sessions (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    session_key TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL,
    body TEXT NOT NULL,
    body_sum INTEGER NOT NULL,
    sum INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE transcripts (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL,
    messages INTEGER NOT NULL,
    prompts INTEGER NOT NULL,
    body TEXT NOT NULL,
    body_sum INTEGER NOT NULL,
    sum INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX transcript_of ON transcripts (session_id, seq)`,
];

/** Makes the tables, and writes into the head whose they are. Within a transaction. */
export function makeSchema(database: SqliteDatabase): void {
  for (const sql of schema) database.exec(sql);
  database.exec(`PRAGMA application_id = ${applicationId}`);
  database.exec(`PRAGMA user_version = ${schemaVersion}`);
}

/**
 * Looks whether the tables and indexes are those that this version makes, letter by letter.
 *
 * @throws SluiceError `database-damaged`, with the first that is not.
 */
export function checkSchema(database: SqliteDatabase): void {
  const kept = new Set(
    database
      .prepare('SELECT sql FROM sqlite_schema')
      .all()
      .map(({ sql }) => sql),
  );
  const missing = schema.find((sql) => !kept.has(sql));
  if (missing === undefined) return;
  const problem = `its schema is not what it was made with: ${/^CREATE \w+ \w+/.exec(missing)?.[0]} is missing or changed`;
  throw hostError('database-damaged', { path: database.path, problem });
}
