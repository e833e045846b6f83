import { slotOf } from '@sluice/journal/internal';
import type { JoinedWrites } from './postgres-tables.js';

/** The last row of a transcript has its size, so that nothing is counted. @param sessionId an expression. */
export const lastOf = (sessionId: string): string =>
  `SELECT messages, prompts FROM sluice_transcripts AS before WHERE before.session_id = ${sessionId}
    ORDER BY seq DESC LIMIT 1`;

/** The sessions and transcripts that one transaction saves. */
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

  write(writes: JoinedWrites): void {
    const keys = [...this.#saved.keys()].sort(); // in one order: two transactions never wait for each other
    const ids = keys.map((key) => this.#saved.get(key)?.sessionId ?? null);
    if (keys.length > 0) {
      writes.add(
        `SELECT unnest($3::text[]) AS session_id UNION ALL SELECT was.session_id
          FROM sluice_sessions AS was JOIN unnest($1::text[], $2::text[]) AS given (session_key, session_id)
          USING (session_key) WHERE was.session_id <> given.session_id`,
        [keys, ids, this.#replaced],
        'replaced',
      );
      writes.add(`DELETE FROM sluice_transcripts WHERE ${isReplaced('session_id')}`, []);
      writes.add(
        `INSERT INTO sluice_sessions (session_key, slot, session_id, body)
          SELECT * FROM unnest($1::text[], $2::int4[], $3::text[], $4::text[]) ON CONFLICT (session_key)
          DO UPDATE SET session_id = excluded.session_id, body = excluded.body`,
        [keys, keys.map(slotOf), ids, keys.map((key) => this.#saved.get(key)?.body ?? null)],
      );
    }
    if (this.#added.length > 0)
      writes.add(
        `INSERT INTO sluice_transcripts (session_id, messages, prompts, body)
          SELECT given.session_id, coalesce(messages, 0) + row_number() OVER so_far,
            coalesce(last.prompts, 0) + sum(given.prompts) OVER so_far, body
          FROM unnest($1::text[], $2::int4[], $3::text[]) WITH ORDINALITY AS given (session_id, prompts, body, at)
          LEFT JOIN LATERAL (${lastOf('given.session_id')}) AS last ON true
          ${keys.length > 0 ? `WHERE NOT (${isReplaced('given.session_id')})` : ''}
          WINDOW so_far AS (PARTITION BY given.session_id ORDER BY at) ORDER BY at`,
        [0, 1, 2].map((column) => this.#added.map((one) => one[column] ?? null)),
      );
  }
}

/** Tells of a transcript whose session another one replaces: nothing is added to it. */
const isReplaced = (sessionId: string): string =>
  `${sessionId} = ANY(ARRAY(SELECT replaced.session_id FROM replaced))`;
