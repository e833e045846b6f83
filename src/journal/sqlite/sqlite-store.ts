import { setImmediate as nextTurn } from 'node:timers/promises';
import { isPrompt, type TranscriptEntry } from '@sluice/sdk/stream';
import type { GroupCommit } from '../commit/group-commit.js';
import { sessionWrites } from '../commit/session-writes.js';
import type { SqliteDatabase } from '../database/open-sqlite.js';
import { slotOf } from '../fence.js';
import { type CleanText, cleanBody } from '../rows/clean-body.js';
import { sessionsTable, transcriptsTable } from '../rows/journal-rows.js';
import { tableRows } from '../rows/table-rows.js';
import type { SessionRecord, Store } from '../store.js';
import { TranscriptTails } from './transcript-tails.js';

/** Rows that are read at once: other work has its turn between two such readings. */
const page = 500;

/** Rows that are forgotten in one write, and the bytes of their bodies; the last row may go beyond that. */
const rowsForgotten = 100;
const bytesForgotten = 4 * 1024 * 1024;

/** Opens the sessions and transcripts in the tables of a journal. A write is on the disk when it resolves. */
export function sqliteStore(
  database: SqliteDatabase,
  commits: GroupCommit,
  clean?: CleanText,
  tails = new TranscriptTails(),
): Store {
  const sessions = tableRows(database, sessionsTable, clean);
  const transcripts = tableRows(database, transcriptsTable); // `appendMessage` cleans
  /** Reads the size of a transcript in its last row, so that nothing is counted. */
  const sizeOf = (sessionId: string) => {
    const last = transcripts.find('session_id = ? ORDER BY seq DESC', sessionId);
    return { messages: Number(last?.['messages'] ?? 0), prompts: Number(last?.['prompts'] ?? 0) };
  };
  const forget = database.prepare(`DELETE FROM transcripts WHERE seq IN (
    SELECT seq FROM (
      SELECT seq, bytes, sum(bytes) OVER (ORDER BY seq DESC) AS bytes_so_far FROM (
        SELECT seq, octet_length(body) AS bytes FROM transcripts WHERE session_id = ?
        ORDER BY seq DESC LIMIT ${rowsForgotten}))
    WHERE bytes_so_far - bytes < ${bytesForgotten})`);
  /** Forgets a transcript from its end, a part at a time: if the process dies meanwhile, the rest is a transcript. */
  const forgetTranscript = async (sessionId: string): Promise<void> => {
    while ((await commits.write(() => forget.run(sessionId).changes)) > 0);
  };
  const { write, written } = sessionWrites<() => void>(commits);
  return {
    hurry: () => commits.hurry(),
    loadSession: async (sessionKey) => {
      await written(sessionKey);
      const [row] = sessions.read('session_key = ?', [sessionKey]);
      return row === undefined ? undefined : (JSON.parse(String(row['body'])) as SessionRecord); // as it was saved
    },
    saveSession: async (record, how) => {
      const { sessionKey, sessionId } = record;
      const body = JSON.stringify(record);
      const slot = slotOf(sessionKey);
      const old = sessions.find('session_key = ?', sessionKey)?.['session_id'] ?? sessionId;
      const isReplaced = old !== sessionId;
      const forgetTail = () => {
        if (isReplaced) tails.forget(String(old));
      };
      forgetTail();
      if (isReplaced) await forgetTranscript(String(old)); // as a reset leaves it
      const save = (): void => {
        const before = sessions.find('session_key = ?', sessionKey);
        if (before === undefined) {
          sessions.add(sessionsTable.row({ sessionKey, slot, sessionId, body }));
          return;
        }
        if (before['session_id'] !== sessionId) forget.run(String(before['session_id'])); // what has come meanwhile
        sessions.change(before, { session_id: sessionId, body, slot });
      };
      await write(sessionKey, save, how, forgetTail); // it may have been read meanwhile
    },
    appendMessage: (sessionId, message, how) => {
      const json = JSON.stringify(message);
      const body = clean === undefined ? json : cleanBody(transcriptsTable.name, json, clean);
      let size = { messages: 0, prompts: 0 };
      const append = (): void => {
        const { messages, prompts } = sizeOf(sessionId);
        size = { messages: messages + 1, prompts: prompts + (isPrompt(message) ? 1 : 0) };
        transcripts.add(transcriptsTable.row({ sessionId, ...size, body }));
      };
      return write(sessionId, append, how, () => tails.added(sessionId, { ...size, body }));
    },
    readTranscript: async (sessionId, part) => {
      await written(sessionId);
      if (part !== undefined) {
        const held = tails.part(sessionId, part);
        if (held !== undefined) return held;
        const wanted = [sessionId, part.last, part.skip ?? 0];
        const rows = transcripts.read('session_id = ? ORDER BY seq DESC LIMIT ? OFFSET ?', wanted);
        return tails.read(sessionId, part, rows.map(transcriptsTable.record));
      }
      const entries: TranscriptEntry[] = [];
      for (let after = 0; ; ) {
        const wanted = [sessionId, after, page];
        const rows = transcripts.read('session_id = ? AND seq > ? ORDER BY seq LIMIT ?', wanted);
        entries.push(...rows.map(({ body }) => JSON.parse(String(body)) as TranscriptEntry));
        const last = rows.at(-1);
        if (last === undefined || rows.length < page) return entries;
        after = Number(last['seq']);
        await nextTurn();
      }
    },
    transcriptSize: async (sessionId) => {
      await written(sessionId);
      return tails.size(sessionId) ?? sizeOf(sessionId);
    },
  };
}
