import type { SqliteDatabase, SqliteRow } from 'sluice/host';

/** A thread, as the service is asked about it: two texts, whatever they mean to a channel. */
export interface ClaimedThread {
  readonly conversation: string;
  readonly thread: string;
}

/** The owner of a thread. Times are milliseconds since 1970. */
export interface Claim extends ClaimedThread {
  readonly owner: string;
  /** When its owner first had it. */
  readonly claimedAtMs: number;
  /** Until when it is the owner's, unless the owner asks again. */
  readonly expiresAtMs: number;
}

/** Which claims to list: those after one, and how many. */
interface ClaimPage {
  readonly after?: ClaimedThread;
  readonly limit: number;
}

/** The owners of threads. Each call is one transaction of a database, so that processes may share it. */
export type Claims = ReturnType<typeof openClaims>;

/**
 * Opens the claims of a database, and makes their table where there is none. A claim lives for exactly `ttlMs` after its
 * owner last asked.
 *
 * @throws SluiceError `database-*`, here and by each call.
 */
export function openClaims(
  database: SqliteDatabase,
  { ttlMs, now }: { readonly ttlMs: number; readonly now: () => number },
) {
  database.exec(`
    CREATE TABLE IF NOT EXISTS claims (
      conversation TEXT NOT NULL,
      thread TEXT NOT NULL,
      owner TEXT NOT NULL,
      claimed_at_ms INTEGER NOT NULL,
      expires_at_ms INTEGER NOT NULL,
      PRIMARY KEY (conversation, thread)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS claims_by_expiry ON claims (expires_at_ms);
  `);
  const expire = database.prepare('DELETE FROM claims WHERE expires_at_ms < ?');
  const select = database.prepare(
    'SELECT * FROM claims WHERE conversation = ? AND thread = ? AND expires_at_ms >= ?',
  );
  const put = database.prepare('INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?)');
  const remove = database.prepare('DELETE FROM claims WHERE conversation = ? AND thread = ?');
  const page = database.prepare(`
    SELECT * FROM claims WHERE (conversation, thread) > (?, ?) AND expires_at_ms >= ?
    ORDER BY conversation, thread LIMIT ?
  `);

  const find = ({ conversation, thread }: ClaimedThread): Claim | undefined => {
    const row = select.get(conversation, thread, now());
    return row && claimOf(row);
  };
  return {
    /** Claims a thread: the first who asks has it, and has it longer with every further time. @returns whose it is. */
    claim: (wanted: ClaimedThread, agentId: string): Claim =>
      database.transaction(() => {
        const atMs = now();
        expire.run(atMs);
        const held = find(wanted);
        if (held !== undefined && held.owner !== agentId) return held;
        const { conversation, thread } = wanted;
        const claimedAtMs = held?.claimedAtMs ?? atMs;
        const expiresAtMs = atMs + ttlMs;
        put.run(conversation, thread, agentId, claimedAtMs, expiresAtMs);
        return { conversation, thread, owner: agentId, claimedAtMs, expiresAtMs };
      }),
    find,
    /** Gives a thread up, whoever's it is, or only where it is this agent's. @returns what it was before. */
    release: (thread: ClaimedThread, agentId?: string): Claim | undefined =>
      database.transaction(() => {
        const held = find(thread);
        if (held !== undefined && (agentId === undefined || held.owner === agentId))
          remove.run(thread.conversation, thread.thread);
        return held;
      }),
    /** In the order of conversations and threads. */
    list: ({ after = { conversation: '', thread: '' }, limit }: ClaimPage): Claim[] =>
      page.all(after.conversation, after.thread, now(), limit).map(claimOf),
  };
}

/** A row of our own table: its columns say what is in it. */
function claimOf(row: SqliteRow): Claim {
  return {
    conversation: String(row['conversation']),
    thread: String(row['thread']),
    owner: String(row['owner']),
    claimedAtMs: Number(row['claimed_at_ms']),
    expiresAtMs: Number(row['expires_at_ms']),
  };
}
