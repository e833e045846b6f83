import { SluiceError } from '../../kernel/index.js';
import { openSqlite, type SqliteDatabase, type SqliteOptions } from '../sqlite/open-sqlite.js';

/** Written into the file's head: "SLUJ". */
const applicationId = 0x534c554a;

/** Of the tables below. A journal of another version is refused. */
const schemaVersion = 1;

const tables = `
  CREATE TABLE updates (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id TEXT NOT NULL UNIQUE,
    channel TEXT NOT NULL,
    account_id TEXT NOT NULL,
    update_id TEXT,
    received_at_ms REAL NOT NULL,
    body TEXT,
    state TEXT NOT NULL CHECK (state IN ('accepted', 'handling', 'ended', 'dead')),
    attempts INTEGER NOT NULL DEFAULT 0,
    accepted_at_ms REAL NOT NULL,
    ended_at_ms REAL,
    outcome TEXT,
    reason TEXT
  ) STRICT;
  CREATE INDEX open_updates ON updates (seq) WHERE state <> 'ended';
  CREATE TABLE sends (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    send_id TEXT NOT NULL UNIQUE,
    correlation_id TEXT,
    kind TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    channel TEXT,
    account_id TEXT,
    body TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('prepared', 'sending', 'sent', 'cancelled', 'failed')),
    attempts INTEGER NOT NULL DEFAULT 0,
    prepared_at_ms REAL NOT NULL,
    ended_at_ms REAL,
    provider_message_id TEXT,
    cause TEXT,
    reason TEXT
  ) STRICT;
  CREATE INDEX sends_of ON sends (correlation_id);
  CREATE INDEX open_sends ON sends (seq) WHERE state IN ('prepared', 'sending');
  CREATE TABLE dispatches (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id TEXT NOT NULL,
    family TEXT NOT NULL,
    correlation_id TEXT NOT NULL,
    session_id TEXT,
    status TEXT NOT NULL,
    occurred_at_ms REAL NOT NULL,
    omitted TEXT,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX dispatches_by_event ON dispatches (event_id);
  CREATE INDEX dispatches_by_correlation ON dispatches (correlation_id);
  CREATE TABLE sessions (
    session_key TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE TABLE transcripts (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX transcript_of ON transcripts (session_id, seq);
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${schemaVersion};
`;

/**
 * Opens the file of a journal, or makes it, and looks at every page of it: what is damaged is found before anything
 * depends on it.
 *
 * @throws SluiceError `not-a-journal`, or what `openSqlite` throws.
 */
export function openJournalFile(path: string, options: SqliteOptions = {}): SqliteDatabase {
  const database = openSqlite(path, options);
  try {
    database.check();
    const isNew = numberOf(database, 'SELECT count(*) FROM sqlite_schema') === 0;
    if (isNew && options.readonly !== true) database.transaction(() => database.exec(tables));
    const id = numberOf(database, 'PRAGMA application_id');
    const version = numberOf(database, 'PRAGMA user_version');
    if (id !== applicationId)
      throw new SluiceError('not-a-journal', {
        path,
        problem: 'it is a database of something else',
      });
    if (version !== schemaVersion) {
      const problem = `it is of version ${version}, and this is made for version ${schemaVersion}`;
      throw new SluiceError('not-a-journal', { path, problem });
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The one number that a statement gives. */
export function numberOf(database: SqliteDatabase, sql: string): number {
  return Number(Object.values(database.prepare(sql).get() ?? {})[0] ?? 0);
}
