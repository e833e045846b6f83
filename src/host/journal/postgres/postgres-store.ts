import { isPrompt, type TranscriptEntry } from '../../../stream/index.js';
import type { SessionRecord, Store } from '../../transcript/store.js';
import { type CleanText, cleanBody } from '../clean-body.js';
import { sessionWrites } from '../commit/session-writes.js';
import { held } from '../hold.js';
import type { PostgresConnections } from './connections.js';
import type { PostgresBatches, SharedTransaction } from './postgres-batches.js';

/** The last row of a transcript has its size, so that nothing is counted. */
const lastOf =
  'SELECT messages, prompts FROM sluice_transcripts WHERE session_id = $1 ORDER BY seq DESC LIMIT 1';

/** Opens the sessions and transcripts of a journal. */
export function postgresStore(
  { query }: PostgresConnections,
  batches: PostgresBatches,
  clean: CleanText,
): Store {
  const { write, written } = sessionWrites<(at: SharedTransaction) => Promise<void>>(batches);
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
      const save = async ({ query: within }: SharedTransaction): Promise<void> => {
        held(how.hold); // the transaction has looked which parts this host has
        await within(
          `DELETE FROM sluice_transcripts WHERE session_id IN
            (SELECT session_id FROM sluice_sessions WHERE session_key = $1 AND session_id <> $2)`,
          [sessionKey, sessionId],
        );
        await within(
          `INSERT INTO sluice_sessions (session_key, session_id, body) VALUES ($1, $2, $3)
            ON CONFLICT (session_key) DO UPDATE SET session_id = $2, body = $3`,
          [sessionKey, sessionId, body],
        );
      };
      return write(sessionKey, save, how);
    },
    appendMessage: (sessionId, message, how) => {
      const body = cleanBody('transcripts', JSON.stringify(message), clean);
      const append = async ({ query: within }: SharedTransaction): Promise<void> => {
        held(how.hold);
        await within(
          `INSERT INTO sluice_transcripts (session_id, messages, prompts, body)
            SELECT $1, coalesce(messages, 0) + 1, coalesce(prompts, 0) + $2, $3
            FROM (SELECT 1) AS one LEFT JOIN (${lastOf}) AS last ON true`,
          [sessionId, isPrompt(message) ? 1 : 0, body],
        );
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
      const [last] = await query(lastOf, [sessionId]);
      return { messages: Number(last?.['messages'] ?? 0), prompts: Number(last?.['prompts'] ?? 0) };
    },
  };
}
