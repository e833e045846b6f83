import { hostError } from '../../errors.js';
import type { SqliteDatabase, SqliteRow } from '../../sqlite/open-sqlite.js';
import type { CleanText } from '../clean-body.js';
import {
  openUpdates,
  type SendRecord,
  type SendState,
  type UpdateRecord,
  type UpdateState,
} from '../journal.js';
import { joinedReason } from '../message-end.js';
import {
  outcomeOfJoined,
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
  /** Has updates join one that is open. Nothing is changed if it throws. @throws SluiceError `journal-state`, `database-damaged`. */
  join(eventId: string, joined: readonly string[]): void;
  /** Has a dead letter handled again, with those that joined it. @returns whether it was one. */
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
  const inState = (id: string, from: readonly UpdateState[], wanted: string): SqliteRow => {
    const row = updates.find('event_id', id);
    const state = String(row?.['state'] ?? 'not known');
    if (row === undefined || !from.some((one) => one === state))
      throw hostError('journal-state', { what: 'update', id, wanted, state });
    return row;
  };
  const again = { state: 'accepted', attempts: 0, ended_at_ms: null, reason: null };
  return {
    updates,
    sends,
    join: (eventId, joined) => {
      if (joined.length === 0) return;
      inState(eventId, openUpdates, 'begun');
      const rows = joined.map((id) => inState(id, ['accepted'], 'joined'));
      for (const row of rows) updates.change(row, { outcome: outcomeOfJoined(eventId) });
    },
    changeUpdate: changed('update', updates, updatesTable),
    changeSend: changed('send', sends, sendsTable),
    retry: (eventId) => {
      const row = dead(eventId);
      if (row === undefined) return false;
      const outcome = outcomeOfRetried(Number(lastSend.get(eventId)?.['seq'] ?? 0));
      updates.change(row, { ...again, outcome });
      const ofIt = `state = 'dead' AND ${isNotEnded} AND outcome = 'joined' AND reason = ?`;
      for (const one of updates.read(ofIt, [joinedReason(eventId)], { withoutBody: true }))
        updates.change(one, { ...again, outcome: outcomeOfJoined(eventId) });
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
