import { hostError } from '../../errors.js';
import type { SqliteDatabase, SqliteRow } from '../../sqlite/open-sqlite.js';
import type { CleanText } from '../clean-body.js';
import type { SendState, UpdateState } from '../journal.js';
import { outcomeOfRetried, sendsTable, updatesTable } from '../rows/journal-rows.js';
import { isNotEnded } from '../rows/journal-schema.js';
import { type RowValues, type TableRows, tableRows } from '../rows/table-rows.js';

/** The changes to the rows of a journal. Each row is read, looked at and changed in one transaction of the caller's. */
export interface JournalChanges {
  readonly updates: TableRows;
  readonly sends: TableRows;
  /**
   * Changes an update that is in one of some states.
   *
   * @returns what it was.
   * @throws SluiceError `journal-state` where it is in another, or not known; `database-damaged`.
   */
  changeUpdate(
    eventId: string,
    from: readonly UpdateState[],
    wanted: string,
    changes: (was: SqliteRow) => RowValues,
  ): SqliteRow;
  /** The same for a send. */
  changeSend(
    sendId: string,
    from: readonly SendState[],
    wanted: string,
    changes: (was: SqliteRow) => RowValues,
  ): SqliteRow;
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
    <State extends string>(what: 'update' | 'send', rows: TableRows, idColumn: string) =>
    (
      id: string,
      from: readonly State[],
      wanted: string,
      changes: (was: SqliteRow) => RowValues,
    ): SqliteRow => {
      const was = rows.find(idColumn, id);
      const state = String(was?.['state'] ?? 'not known');
      if (was === undefined || !from.some((one) => one === state))
        throw hostError('journal-state', { what, id, wanted, state });
      rows.change(was, changes(was));
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
    changeUpdate: changed<UpdateState>('update', updates, 'event_id'),
    changeSend: changed<SendState>('send', sends, 'send_id'),
    retry: (eventId) => {
      const row = dead(eventId);
      if (row === undefined) return false;
      const again = { state: 'accepted', attempts: 0, ended_at_ms: null, reason: null };
      const outcome = outcomeOfRetried(Number(lastSend.get(eventId)?.['seq'] ?? 0));
      updates.change(row, { ...again, outcome });
      return true;
    },
    purge: (eventId) => {
      const row = eventId === undefined ? undefined : dead(eventId);
      const rows =
        eventId === undefined
          ? updates.read(`state = 'dead' AND ${isNotEnded}`, [])
          : row === undefined
            ? []
            : [row];
      for (const one of rows) purge(one);
      return rows.length;
    },
  };
}
