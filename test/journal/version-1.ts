import { openSqlite } from '../../src/journal/index.js';

/** The tables of version 1, as they were. */
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
  PRAGMA application_id = ${0x534c554a};
  PRAGMA user_version = 1;
`;

/** Something in each table; of updates the numbers 1 to 4 were given, and the last is gone. */
const rows = `
  INSERT INTO updates VALUES
    (1, 'u-1', 'scripted', 'default', '1', 5, '"open"', 'handling', 2, 6, NULL, NULL, NULL),
    (2, 'u-2', 'scripted', 'default', NULL, 5, NULL, 'ended', 1, 6, 9e15, 'answered', NULL),
    (3, 'u-3', 'scripted', 'default', '3', 5.5, '"dead"', 'dead', 3, 6, 7, 'failed', 'why'),
    (4, 'u-4', 'scripted', 'default', '4', 5, NULL, 'ended', 1, 6, 7, 'answered', NULL);
  DELETE FROM updates WHERE seq = 4;
  INSERT INTO sends VALUES
    (1, 's-1', 'u-1', 'reply', 'f', 'scripted', 'default', '{"content":"ä"}', 'sent', 1, 6, 9e15, '17', NULL, NULL);
  INSERT INTO dispatches VALUES
    (1, 'u-1', 'ingress.normalized', 'u-1', 's', 'passed', 9e15, 'hot-path', '{}');
  INSERT INTO sessions VALUES ('k', 's', '{"sessionKey":"k","sessionId":"s"}');
  INSERT INTO transcripts VALUES
    (1, 's', '{"role":"user","content":"one"}'), (2, 's', '{"role":"user","content":"two"}');
`;

/** Makes a journal as version 1 left it. */
export function makeVersion1(path: string): void {
  const database = openSqlite(path);
  database.exec(tables);
  database.exec(rows);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
}
