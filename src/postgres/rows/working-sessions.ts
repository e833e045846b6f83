import { type Scrub, type SessionChanges, slotOf } from '@sluice/journal/internal';
import type { PostgresQuery } from './connections.js';
import type { JoinedWrites } from './postgres-tables.js';

/** The last row of a transcript has its size, so that nothing is counted. @param sessionId an expression. */
export const lastOf = (sessionId: string): string =>
  `SELECT messages, prompts FROM sluice_transcripts AS before WHERE before.session_id = ${sessionId}
    ORDER BY seq DESC LIMIT 1`;

/** The sessions and transcripts that one transaction saves. */
export class WorkingSessions implements SessionChanges {
  readonly #saved = new Map<string, { readonly session_id: string; readonly body: string }>();
  /** Sessions that another one has replaced, in this transaction. */
  readonly #replaced: string[] = [];
  readonly #added: {
    readonly session_id: string;
    readonly prompts: number;
    body: string;
  }[] = [];
  readonly #query: PostgresQuery;

  constructor(query: PostgresQuery) {
    this.#query = query;
  }

  save(sessionKey: string, sessionId: string, body: string): void {
    const before = this.#saved.get(sessionKey)?.session_id;
    if (before !== undefined && before !== sessionId) this.#replaced.push(before);
    this.#saved.set(sessionKey, { session_id: sessionId, body });
  }

  append(sessionId: string, isPrompt: boolean, body: string): void {
    this.#added.push({ session_id: sessionId, prompts: isPrompt ? 1 : 0, body });
  }

  async scrub(sessionId: string, before: number, scrub: Scrub): Promise<void> {
    for (const one of this.#added) if (one.session_id === sessionId) one.body = scrub(one.body);
    const rows = await this.#query(
      `SELECT seq, body FROM sluice_transcripts WHERE session_id = $1 ORDER BY seq DESC
        LIMIT greatest(0, (SELECT messages FROM (${lastOf('$1')}) AS last) - $2::int4)`,
      [sessionId, before],
    );
    await this.#query(
      `UPDATE sluice_transcripts AS kept SET body = given.body
        FROM unnest($1::int8[], $2::text[]) AS given (seq, body) WHERE kept.seq = given.seq`,
      [rows.map(({ seq }) => Number(seq)), rows.map(({ body }) => scrub(String(body)))],
    );
  }

  flush(writes: JoinedWrites): void {
    const saved = [...this.#saved].map(([session_key, session]) => ({
      ...{ session_key, slot: slotOf(session_key), ...session },
    }));
    if (saved.length > 0) {
      const ids = saved.map(({ session_id }) => session_id);
      writes.add(
        `SELECT unnest($3::text[]) AS session_id UNION ALL SELECT was.session_id
          FROM sluice_sessions AS was JOIN unnest($1::text[], $2::text[]) AS given (session_key, session_id)
          USING (session_key) WHERE was.session_id <> given.session_id`,
        [saved.map(({ session_key }) => session_key), ids, this.#replaced],
        'replaced',
      );
      writes.add(`DELETE FROM sluice_transcripts WHERE ${isReplaced('session_id')}`, []);
    }
    // in one order: two transactions never wait for each other
    writes.addRows(
      { session_key: 'text', slot: 'int4', session_id: 'text', body: 'text' },
      saved,
      (
        given,
        names,
      ) => `INSERT INTO sluice_sessions (${names}) SELECT ${names} FROM ${given} ORDER BY session_key
        ON CONFLICT (session_key) DO UPDATE SET session_id = excluded.session_id, body = excluded.body`,
    );
    writes.addRows(
      { session_id: 'text', prompts: 'int4', body: 'text' },
      this.#added,
      (given) => `INSERT INTO sluice_transcripts (session_id, messages, prompts, body)
        SELECT given.session_id, coalesce(messages, 0) + row_number() OVER so_far,
          coalesce(last.prompts, 0) + sum(given.prompts) OVER so_far, body
        FROM ${given} LEFT JOIN LATERAL (${lastOf('given.session_id')}) AS last ON true
        ${saved.length > 0 ? `WHERE NOT (${isReplaced('given.session_id')})` : ''}
        WINDOW so_far AS (PARTITION BY given.session_id ORDER BY at) ORDER BY at`,
    );
  }
}

/** Tells of a transcript whose session another one replaces: nothing is added to it. */
const isReplaced = (sessionId: string): string =>
  `${sessionId} = ANY(ARRAY(SELECT replaced.session_id FROM replaced))`;
