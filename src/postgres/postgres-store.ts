import type { SessionRecord, Store } from '@sluice/journal';
import { type CleanText, checkedFence, cleanBody, sessionWrites } from '@sluice/journal/internal';
import { isPrompt, type TranscriptEntry } from '@sluice/sdk/stream';
import type { PostgresBatches } from './postgres-batches.js';
import type { PostgresConnections } from './rows/connections.js';
import type { SharedTransaction } from './rows/postgres-rows.js';
import { lastOf } from './rows/working-sessions.js';

/** Opens the sessions and transcripts of a journal. */
export function postgresStore(
  { query }: PostgresConnections,
  batches: PostgresBatches,
  clean: CleanText,
): Store {
  const { write, written } = sessionWrites<(at: SharedTransaction) => void>(batches);
  return {
    hurry: () => batches.hurry(),
    loadSession: async (sessionKey) => {
      await written(sessionKey);
      const [row] = await query('SELECT body FROM sluice_sessions WHERE session_key = $1', [
        sessionKey,
      ]);
      return row === undefined ? undefined : (JSON.parse(String(row['body'])) as SessionRecord); // as it was saved
    },
    saveSession: (record, how) => {
      const { sessionKey, sessionId } = record;
      const body = JSON.stringify(record);
      const save = ({ sessions }: SharedTransaction): void => {
        checkedFence(how.fence); // the transaction has looked which partitions this host has
        sessions.save(sessionKey, sessionId, body);
      };
      return write(sessionKey, save, how);
    },
    appendMessage: (sessionId, message, how) => {
      const body = cleanBody('transcripts', JSON.stringify(message), clean);
      const append = ({ sessions }: SharedTransaction): void => {
        checkedFence(how.fence);
        sessions.append(sessionId, isPrompt(message) ? 1 : 0, body);
      };
      return write(sessionId, append, how);
    },
    readTranscript: async (sessionId, part) => {
      await written(sessionId);
      const sql = 'SELECT body FROM sluice_transcripts WHERE session_id = $1 ORDER BY seq';
      const rows =
        part === undefined
          ? await query(sql, [sessionId])
          : await query(`${sql} DESC LIMIT $2 OFFSET $3`, [sessionId, part.last, part.skip ?? 0]);
      const entries = rows.map(({ body }) => JSON.parse(String(body)) as TranscriptEntry); // as it was appended
      return part === undefined ? entries : entries.reverse();
    },
    transcriptSize: async (sessionId) => {
      await written(sessionId);
      const [last] = await query(lastOf('$1'), [sessionId]);
      return { messages: Number(last?.['messages'] ?? 0), prompts: Number(last?.['prompts'] ?? 0) };
    },
  };
}
