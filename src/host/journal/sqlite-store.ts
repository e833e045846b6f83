import type { TranscriptEntry } from '../../stream/index.js';
import type { SqliteDatabase } from '../sqlite/open-sqlite.js';
import type { SessionRecord, Store } from '../store.js';
import type { GroupCommit } from './group-commit.js';
import { sessionsTable, transcriptsTable } from './journal-rows.js';
import { tableRows } from './table-rows.js';

/** Sessions and transcripts in the tables of a journal. What is written is on the disk when it resolves. */
export function sqliteStore(database: SqliteDatabase, commits: GroupCommit): Store {
  const sessions = tableRows(database, sessionsTable);
  const transcripts = tableRows(database, transcriptsTable);
  const forget = database.prepare('DELETE FROM transcripts WHERE session_id = ?');
  return {
    loadSession: async (sessionKey) => {
      const [row] = sessions.read('session_key = ?', [sessionKey]);
      return row === undefined ? undefined : (JSON.parse(String(row['body'])) as SessionRecord); // as it was saved
    },
    saveSession: async (record) => {
      const { sessionKey, sessionId } = record;
      const body = JSON.stringify(record);
      await commits.write(() => {
        const before = sessions.find('session_key', sessionKey);
        if (before === undefined) {
          sessions.add({ session_key: sessionKey, session_id: sessionId, body });
          return;
        }
        if (before['session_id'] !== sessionId) forget.run(String(before['session_id'])); // as a reset leaves it
        sessions.change(before, { session_id: sessionId, body });
      });
    },
    appendMessage: async (sessionId, message) => {
      const body = JSON.stringify(message);
      await commits.write(() => transcripts.add({ session_id: sessionId, body }));
    },
    readTranscript: async (sessionId) =>
      transcripts
        .read('session_id = ? ORDER BY seq', [sessionId])
        .map(({ body }) => JSON.parse(String(body)) as TranscriptEntry), // as it was appended
  };
}
