import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TranscriptEntry, TranscriptSize } from '@sluice/sdk/stream';
import { type SessionReader, storedEntry } from '../commit/session-store.js';
import type { SqliteDatabase, SqliteRow } from '../database/open-sqlite.js';
import { slotOf } from '../fence.js';
import type { SessionChanges } from '../journal-changes.js';
import type { Scrub } from '../privacy/scrub.js';
import { sessionsTable, transcriptsTable } from '../rows/journal-rows.js';
import { tableRows } from '../rows/table-rows.js';
import type { TranscriptPart } from '../store.js';
import { Held } from './held.js';
import { TranscriptTails } from './transcript-tails.js';

/** Rows that are read at once: other work has its turn between two such readings. */
const page = 500;

/** Characters of the sessions that are held. */
const mostCharactersHeld = 1024 * 1024;

/** Rows that are forgotten in one write, and the bytes of their bodies; the last row may go beyond that. */
const rowsForgotten = 100;
const bytesForgotten = 4 * 1024 * 1024;

const forgetSql = `DELETE FROM transcripts WHERE seq IN (
  SELECT seq FROM (
    SELECT seq, bytes, sum(bytes) OVER (ORDER BY seq DESC) AS bytes_so_far FROM (
      SELECT seq, octet_length(body) AS bytes FROM transcripts WHERE session_id = ?
      ORDER BY seq DESC LIMIT ${rowsForgotten}))
  WHERE bytes_so_far - bytes < ${bytesForgotten})`;

/** The sessions and transcripts in the tables of a journal. Each change is within a transaction of the caller. */
export class SqliteSessions implements SessionReader, SessionChanges {
  /** The sessions that were read or saved last, with their bodies. */
  readonly #held: Held<SqliteRow>;
  readonly #sessions: ReturnType<typeof tableRows>;
  readonly #transcripts: ReturnType<typeof tableRows>;
  readonly #forget: ReturnType<SqliteDatabase['prepare']>;
  readonly #tails: TranscriptTails;

  /** @param mostCharacters of the JSON of all messages that are held. */
  constructor(database: SqliteDatabase, mostCharacters?: number) {
    this.#sessions = tableRows(database, sessionsTable);
    this.#transcripts = tableRows(database, transcriptsTable);
    this.#forget = database.prepare(forgetSql);
    const revision = () => database.revision;
    this.#tails = new TranscriptTails(revision, mostCharacters);
    this.#held = new Held(mostCharactersHeld, revision);
  }

  async session(sessionKey: string): Promise<string | undefined> {
    const row = this.#find(sessionKey);
    return row && sessionsTable.record(row).body;
  }

  async transcript(sessionId: string, part?: TranscriptPart): Promise<readonly TranscriptEntry[]> {
    if (part !== undefined) {
      const held = this.#tails.part(sessionId, part);
      if (held !== undefined) return held;
      const wanted = [sessionId, part.last, part.skip ?? 0];
      const rows = this.#transcripts.read(
        'session_id = ? ORDER BY seq DESC LIMIT ? OFFSET ?',
        wanted,
      );
      return this.#tails.read(sessionId, part, rows.map(transcriptsTable.record));
    }
    const entries: TranscriptEntry[] = [];
    for (let after = 0; ; ) {
      const wanted = [sessionId, after, page];
      const rows = this.#transcripts.read(
        'session_id = ? AND seq > ? ORDER BY seq LIMIT ?',
        wanted,
      );
      entries.push(...rows.map(({ body }) => storedEntry(String(body))));
      const last = rows.at(-1);
      if (last === undefined || rows.length < page) return entries;
      after = Number(last['seq']);
      await nextTurn();
    }
  }

  async size(sessionId: string): Promise<TranscriptSize> {
    return this.#sizeOf(sessionId);
  }

  /** Forgets a transcript from its end, a part at a time: if the process dies meanwhile, the rest is a transcript. */
  async replacing(
    ...[sessionKey, sessionId, write]: Parameters<Required<SessionReader>['replacing']>
  ): Promise<void> {
    const old = this.#find(sessionKey)?.['session_id'] ?? sessionId;
    if (typeof old !== 'string' || old === sessionId) return;
    this.#sessions.read('session_key = ?', [sessionKey]); // a damaged row throws, and drops nothing
    this.#tails.forget(old);
    while ((await write(() => this.#forget.run(old).changes)) > 0);
  }

  save(sessionKey: string, sessionId: string, body: string): void {
    const before = this.#find(sessionKey);
    const row = sessionsTable.row({ sessionKey, slot: slotOf(sessionKey), sessionId, body });
    const old = String(before?.['session_id'] ?? sessionId);
    this.#hold({
      ...(before === undefined ? this.#sessions.add(row) : this.#sessions.change(before, row)),
      body,
    });
    if (old === sessionId) return;
    this.#forget.run(old); // what has come meanwhile
    this.#tails.forget(old); // it may have been read meanwhile
  }

  append(sessionId: string, isPrompt: boolean, body: string): void {
    const { messages, prompts } = this.#sizeOf(sessionId);
    const size = { messages: messages + 1, prompts: prompts + (isPrompt ? 1 : 0) };
    this.#transcripts.add(transcriptsTable.row({ sessionId, ...size, body }));
    this.#tails.added(sessionId, { ...size, body });
  }

  scrub(sessionId: string, before: number, scrub: Scrub): void {
    const last = Math.max(0, this.#sizeOf(sessionId).messages - before);
    const newest = 'session_id = ? ORDER BY seq DESC LIMIT ?';
    for (const row of this.#transcripts.read(newest, [sessionId, last]))
      this.#transcripts.change(row, { body: scrub(String(row['body'])) });
    this.#tails.forget(sessionId);
  }

  #find(sessionKey: string): SqliteRow | undefined {
    const held = this.#held.get(sessionKey);
    if (held !== undefined) return held;
    const [row] = this.#sessions.read('session_key = ?', [sessionKey]);
    if (row !== undefined) this.#hold(row);
    return row;
  }

  #hold(row: SqliteRow): void {
    const key = String(row['session_key']);
    this.#held.set(key, row, key.length + String(row['body']).length);
  }

  /** The size of a transcript: its last row has it, so that nothing is counted. */
  #sizeOf(sessionId: string): TranscriptSize {
    const held = this.#tails.size(sessionId);
    if (held !== undefined) return held;
    const last = this.#transcripts.find('session_id = ? ORDER BY seq DESC', sessionId);
    return { messages: Number(last?.['messages'] ?? 0), prompts: Number(last?.['prompts'] ?? 0) };
  }
}
