import type { SqliteDatabase } from '../sqlite/open-sqlite.js';

/** The statements that change a journal. Each changes a row only from a state that allows it, or no row. */
export function journalStatements(database: SqliteDatabase) {
  const sql = (text: string) => database.prepare(text);
  return {
    updateState: sql('SELECT state, attempts FROM updates WHERE event_id = ?'),
    sendState: sql('SELECT state FROM sends WHERE send_id = ?'),
    accept: sql(`
      INSERT INTO updates
        (event_id, channel, account_id, update_id, received_at_ms, body, accepted_at_ms, state)
      VALUES (?, ?, ?, ?, ?, ?, ?, 'accepted')`),
    begin: sql(`
      UPDATE updates SET state = 'handling', attempts = attempts + 1
      WHERE event_id = ? AND state IN ('accepted', 'handling') RETURNING attempts`),
    // what is done with needs no body any more, and people's words are not kept longer than they must be
    endUpdate: sql(`
      UPDATE updates SET state = ?, ended_at_ms = ?, outcome = ?, reason = ?,
        body = CASE WHEN ? = 1 THEN body ELSE NULL END
      WHERE event_id = ? AND state IN ('accepted', 'handling')`),
    prepare: sql(`
      INSERT INTO sends
        (send_id, correlation_id, kind, fingerprint, channel, account_id, body, prepared_at_ms, state)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'prepared') ON CONFLICT DO NOTHING`),
    final: sql(`
      UPDATE sends SET kind = ?, fingerprint = ?, channel = ?, account_id = ?, body = ?
      WHERE send_id = ? AND state = 'prepared'`),
    sending: sql(`
      UPDATE sends SET state = 'sending', attempts = attempts + 1
      WHERE send_id = ? AND state IN ('prepared', 'sending')`),
    unsent: sql(`UPDATE sends SET state = 'prepared' WHERE send_id = ? AND state = 'sending'`),
    endSend: sql(`
      UPDATE sends SET state = ?, ended_at_ms = ?, provider_message_id = ?, cause = ?, reason = ?
      WHERE send_id = ? AND state IN ('prepared', 'sending')`),
    retry: sql(`
      UPDATE updates SET state = 'accepted', attempts = 0, ended_at_ms = NULL, outcome = NULL, reason = NULL
      WHERE event_id = ? AND state = 'dead'`),
    purge: sql(
      `UPDATE updates SET state = 'ended', body = NULL WHERE event_id = ? AND state = 'dead'`,
    ),
    purgeAll: sql(`UPDATE updates SET state = 'ended', body = NULL WHERE state = 'dead'`),
  };
}
