import {
  type Forgotten,
  type Found,
  forgetPage,
  forgetTexts,
  forgottenDispatch,
  forgottenSend,
  forgottenUpdate,
  journalError,
  tables,
  type Whose,
} from '@sluice/journal/internal';
import { systemClock } from 'sluice-kernel/internal';
import { withFailures } from './postgres-failure.js';
import { tendPostgresJournal } from './postgres-journal.js';
import type { PostgresConnections, PostgresQuery } from './rows/connections.js';
import { dispatchesTable, JoinedWrites, sendsTable, updatesTable } from './rows/postgres-tables.js';
import { WorkingRows } from './rows/working-rows.js';
import { dropValues } from './rows/working-values.js';

/** Messages whose rows are read at once. */
const atOnce = 50;

/**
 * Removes the texts of a sender or a conversation from the tables of a journal that no host uses (durability §13.6): all of them in one transaction. The server
 * keeps the rows as they were until a vacuum, and in its own log and backups: that is its operator's.
 *
 * @param isDry only counts: hosts may run meanwhile.
 * @param signal ends it before anything has changed.
 * @throws SluiceError (as a rejection) `journal-in-use` while a host has a lease, `not-a-journal` or `database-...`.
 */
export async function forgetInPostgres(
  given: PostgresConnections,
  whose: Whose,
  isDry: boolean,
  signal: AbortSignal,
): Promise<Forgotten> {
  await using journal = await tendPostgresJournal(given);
  const { query, transaction, address } = withFailures(given);
  const hosts = 'SELECT 1 FROM sluice_hosts WHERE lease_until > clock_timestamp()';
  if (!isDry && (await query(hosts)).length > 0)
    throw journalError('journal-in-use', { path: address });
  const rows = {
    ...journal,
    sessions: async (afterKey: string) => {
      const sql =
        'SELECT * FROM sluice_sessions WHERE session_key > $1 ORDER BY session_key LIMIT $2';
      return (await query(sql, [afterKey, forgetPage])).map(tables.sessionsTable.record);
    },
    forget: ({ sessions, messages, questions }: Found) =>
      transaction(async (within) => {
        for (const table of ['transcripts', 'sessions'])
          await within(`DELETE FROM sluice_${table} WHERE session_id = ANY($1)`, [sessions]);
        await dropValues(
          within,
          '(namespace, key) IN (SELECT * FROM unnest($1::text[], $2::text[]))',
          [questions.map(({ namespace }) => namespace), questions.map(({ key }) => key)],
        );
        for (let at = 0; at < messages.length; at += atOnce) {
          signal.throwIfAborted();
          await forgetMessages(within, messages.slice(at, at + atOnce));
        }
      }),
  };
  return await forgetTexts(rows, whose, isDry);
}

async function forgetMessages(query: PostgresQuery, ids: readonly string[]): Promise<void> {
  const updates = new WorkingRows(updatesTable, undefined, true);
  const sends = new WorkingRows(sendsTable, undefined, true);
  const nowMs = systemClock.now();
  await updates.load(query, 'event_id = ANY($1)', [ids]);
  await sends.load(query, 'correlation_id = ANY($1) OR send_id = ANY($1)', [ids]);
  for (const one of updates.all) updates.change(one, forgottenUpdate(one, nowMs));
  for (const one of sends.all) sends.change(one, forgottenSend(one));
  const writes = new JoinedWrites();
  for (const one of [updates, sends]) one.flush(writes);
  await writes.run(query);
  for (const id of ids) {
    const sql = 'SELECT * FROM sluice_dispatches WHERE correlation_id = $1';
    const kept = (await query(sql, [id])).map(dispatchesTable.record).map(forgottenDispatch);
    await query(
      `UPDATE sluice_dispatches AS kept SET body = given.body, omitted = given.omitted, proof = given.proof
        FROM unnest($1::int8[], $2::text[], $3::text[], $4::text[]) AS given (seq, body, omitted, proof) WHERE kept.seq = given.seq`,
      [
        ...[kept.map(({ seq }) => seq), kept.map(({ body }) => body)],
        ...[kept.map((one) => one.omitted), kept.map(({ proof }) => proof ?? null)],
      ],
    );
  }
}
