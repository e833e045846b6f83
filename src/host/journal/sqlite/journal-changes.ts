import { hostError } from '../../errors.js';
import type { SqliteDatabase, SqliteRow } from '../../sqlite/open-sqlite.js';
import type { CleanText } from '../clean-body.js';
import type { SendRecord, SendState, UpdateRecord, UpdateState } from '../journal.js';
import {
  outcomeOfRetried,
  type RecordTable,
  sendsTable,
  updatesTable,
} from '../rows/journal-rows.js';
import { isNotEnded } from '../rows/journal-schema.js';
import type { JournalTable } from '../rows/journal-table.js';
import { type TableRows, tableRows } from '../rows/table-rows.js';

/** The new values of some fields of a record. */
type Changes<Row> = Parameters<JournalTable<Row>['row']>[0];

/**
 * Changes the row of an id if it is in one of some states, and returns the row as it was.
 *
 * @param wanted the participle for an error: the row cannot be "ended", say.
 * @throws SluiceError `journal-state` if it is in another state, or not known; `database-damaged`.
 */
type Change<Row, State> = (
  id: string,
  from: readonly State[],
  wanted: string,
  changes: (was: SqliteRow) => Changes<Row>,
) => SqliteRow;

/** The changes to the rows of a journal. Each row is read, looked at and changed in one transaction of the caller's. */
export interface JournalChanges {
  readonly updates: TableRows;
  readonly sends: TableRows;
  readonly changeUpdate: Change<UpdateRecord, UpdateState>;
  readonly changeSend: Change<SendRecord, SendState>;
  /** Has a dead letter handled again. @returns whether it was one. */
  retry(eventId: string): boolean;
  /** Drops a dead letter, or all. @returns how many. */
  purge(eventId?: string): number;
}

/** The changes of an open journal. */
export function journalChanges(database: SqliteDatabase, clean?: CleanText): JournalChanges {
  const updates = tableRows(database, updatesTable, clean);
  const sends = tableRows(database, sendsTable, clean);
  const changed =
    <Row, State extends string>(
      what: 'update' | 'send',
      rows: TableRows,
      table: RecordTable<Row>,
    ): Change<Row, State> =>
    (id, from, wanted, changes) => {
      const was = rows.find(table.idColumn, id);
      const state = String(was?.['state'] ?? 'not known');
      if (was === undefined || !from.some((one) => one === state))
        throw hostError('journal-state', { what, id, wanted, state });
      rows.change(was, table.row(changes(was)));
      return was;
    };
  const dead = (eventId: string): SqliteRow | undefined => {
    const row = updates.find('event_id', eventId);
    return row?.['state'] === 'dead' ? row : undefined;
  };
  const lastSend = database.prepare('SELECT max(seq) AS seq FROM sends WHERE correlation_id = ?');
  // what is done with needs no body any more, and people's words are not kept longer than they must be
  const purge = (row: SqliteRow): void => updates.change(row, { state: 'ended', body: null });
  return {
    updates,
    sends,
    changeUpdate: changed('update', updates, updatesTable),
    changeSend: changed('send', sends, sendsTable),
    retry: (eventId) => {
      const row = dead(eventId);
      if (row === undefined) return false;
      const again = { state: 'accepted', attempts: 0, ended_at_ms: null, reason: null };
      const outcome = outcomeOfRetried(Number(lastSend.get(eventId)?.['seq'] ?? 0));
      updates.change(row, { ...again, outcome });
      return true;
    },
    purge: (eventId) => {
      const rows =
        eventId === undefined
          ? updates.read(`state = 'dead' AND ${isNotEnded}`, [])
          : [dead(eventId)].filter((row) => row !== undefined);
      for (const row of rows) purge(row);
      return rows.length;
    },
  };
}
