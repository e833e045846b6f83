import type { TranscriptEntry } from '../../stream/index.js';
import type { SqliteDatabase } from '../sqlite/open-sqlite.js';
import type { SessionRecord, Store } from '../store.js';
import type { GroupCommit } from './group-commit.js';

/** Sessions and transcripts in the tables of a journal. What is written is on the disk when it resolves. */
export function sqliteStore(database: SqliteDatabase, commits: GroupCommit): Store {
  const load = database.prepare('SELECT body FROM sessions WHERE session_key = ?');
  const save = database.prepare(`
    INSERT INTO sessions (session_key, session_id, body) VALUES (?, ?, ?)
    ON CONFLICT (session_key) DO UPDATE SET session_id = excluded.session_id, body = excluded.body`);
  const forget = database.prepare(`
    DELETE FROM transcripts WHERE session_id =
      (SELECT session_id FROM sessions WHERE session_key = ? AND session_id <> ?)`);
  const append = database.prepare('INSERT INTO transcripts (session_id, body) VALUES (?, ?)');
  const read = database.prepare('SELECT body FROM transcripts WHERE session_id = ? ORDER BY seq');
  return {
    loadSession: async (sessionKey) => {
      const row = load.get(sessionKey);
      return row === undefined ? undefined : (JSON.parse(String(row['body'])) as SessionRecord); // as it was saved
    },
    saveSession: async (record) => {
      const { sessionKey, sessionId } = record;
      const body = JSON.stringify(record);
      await commits.write(() => {
        forget.run(sessionKey, sessionId); // of the session before it, as a reset leaves it
        save.run(sessionKey, sessionId, body);
      });
    },
    appendMessage: async (sessionId, message) => {
      const body = JSON.stringify(message);
      await commits.write(() => {
        append.run(sessionId, body);
      });
    },
    readTranscript: async (sessionId) =>
      read.all(sessionId).map(({ body }) => JSON.parse(String(body)) as TranscriptEntry), // as it was appended
  };
}
