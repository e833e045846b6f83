import type { PostgresQuery } from './connections.js';

/** The last row of a transcript has its size, so that nothing is counted. @param sessionId an expression. */
export const lastOf = (sessionId: string): string =>
  `SELECT messages, prompts FROM sluice_transcripts AS before WHERE before.session_id = ${sessionId}
    ORDER BY seq DESC LIMIT 1`;

/** The sessions and transcripts that one transaction saves: three statements write them, however many they are. */
export class WorkingSessions {
  readonly #saved = new Map<string, { readonly sessionId: string; readonly body: string }>();
  /** Sessions that another one has replaced, in this transaction. */
  readonly #replaced: string[] = [];
  readonly #added: (readonly [sessionId: string, prompts: number, body: string])[] = [];

  save(sessionKey: string, sessionId: string, body: string): void {
    const before = this.#saved.get(sessionKey)?.sessionId;
    if (before !== undefined && before !== sessionId) this.#replaced.push(before);
    this.#saved.set(sessionKey, { sessionId, body });
  }

  append(sessionId: string, prompts: number, body: string): void {
    this.#added.push([sessionId, prompts, body]);
  }

  async write(query: PostgresQuery): Promise<void> {
    if (this.#added.length > 0)
      await query(
        `INSERT INTO sluice_transcripts (session_id, messages, prompts, body)
          SELECT given.session_id, coalesce(messages, 0) + row_number() OVER so_far,
            coalesce(last.prompts, 0) + sum(given.prompts) OVER so_far, body
          FROM unnest($1::text[], $2::int4[], $3::text[]) WITH ORDINALITY AS given (session_id, prompts, body, at)
          LEFT JOIN LATERAL (${lastOf('given.session_id')}) AS last ON true
          WINDOW so_far AS (PARTITION BY given.session_id ORDER BY at) ORDER BY at`,
        [0, 1, 2].map((column) => this.#added.map((one) => one[column] ?? null)),
      );
    if (this.#saved.size === 0) return;
    const keys = [...this.#saved.keys()].sort(); // in one order: two transactions never wait for each other
    const ids = keys.map((key) => this.#saved.get(key)?.sessionId ?? null);
    await query(
      `DELETE FROM sluice_transcripts WHERE session_id = ANY($3 || ARRAY(SELECT was.session_id
        FROM sluice_sessions AS was JOIN unnest($1::text[], $2::text[]) AS given (session_key, session_id)
          USING (session_key) WHERE was.session_id <> given.session_id))`,
      [keys, ids, this.#replaced],
    );
    await query(
      `INSERT INTO sluice_sessions (session_key, session_id, body)
        SELECT * FROM unnest($1::text[], $2::text[], $3::text[]) ON CONFLICT (session_key)
        DO UPDATE SET session_id = excluded.session_id, body = excluded.body`,
      [keys, ids, keys.map((key) => this.#saved.get(key)?.body ?? null)],
    );
  }
}
