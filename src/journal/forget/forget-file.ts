import { systemClock } from 'sluice-kernel';
import { writtenKeyValues } from '../commit/database-journal.js';
import type { SqliteDatabase } from '../database/open-sqlite.js';
import { lockJournal, openJournalFile, writeAnew } from '../file/journal-file.js';
import {
  dispatchesTable,
  sendsTable,
  sessionsTable,
  transcriptsTable,
  updatesTable,
} from '../rows/journal-rows.js';
import { packedMark, packedRow, unpacked } from '../rows/packed-dispatches.js';
import { SqliteKeyValues } from '../rows/sqlite-key-values.js';
import { tableRows } from '../rows/table-rows.js';
import { sqliteRecords } from '../sqlite/sqlite-reader.js';
import {
  type Forgotten,
  forgetPage,
  forgetTexts,
  forgottenDispatch,
  forgottenSend,
  forgottenUpdate,
  type Whose,
} from './forget-texts.js';

/**
 * Removes the texts of a sender or a conversation from the file of a journal that no host uses, and writes the file anew, so that
 * nothing of them is left in its free pages or its log. A run that was killed is completed by the next (durability §13.6).
 *
 * @param isDry only counts: a host may run meanwhile.
 * @throws SluiceError (as a rejection) `journal-in-use`, or as `openSqlite`; `database-damaged` for a row that cannot be read.
 * @example
 * const { messages } = await forgetInFile('./sluice.db', { of: 'sender', id: '4711' });
 */
export async function forgetInFile(path: string, whose: Whose, isDry = false): Promise<Forgotten> {
  using _lock = isDry ? undefined : lockJournal(path);
  using database = openJournalFile(path, { readonly: isDry });
  const sessions = tableRows(database, sessionsTable);
  const write = async <T>(
    run: (at: { readonly values: SqliteKeyValues }) => T | Promise<T>,
  ): Promise<T> => database.transaction(() => run({ values }));
  const values = new SqliteKeyValues(database, () => systemClock.now());
  const rows = {
    ...sqliteRecords(database),
    keyValues: writtenKeyValues(values, { write, later: write }),
    sessions: async (afterKey: string) =>
      sessions
        .read('session_key > ? ORDER BY session_key LIMIT ?', [afterKey, forgetPage])
        .map(sessionsTable.record),
    forget: async (sessionIds: readonly string[], messages: readonly string[]) =>
      database.transaction(() => {
        for (const table of [transcriptsTable, sessionsTable])
          for (const id of sessionIds) tableRows(database, table).delete('session_id = ?', id);
        forgetMessages(database, messages);
      }),
  };
  if (!isDry) database.exec('PRAGMA secure_delete = ON');
  const forgotten = await forgetTexts(rows, whose, isDry);
  if (!isDry) writeAnew(database); // also if nothing was found: a run before may have been killed here
  return forgotten;
}

function forgetMessages(database: SqliteDatabase, ids: readonly string[]): void {
  const updates = tableRows(database, updatesTable);
  const sends = tableRows(database, sendsTable);
  const dispatches = tableRows(database, dispatchesTable);
  const nowMs = systemClock.now();
  for (const id of ids) {
    for (const row of updates.read('event_id = ?', [id]))
      updates.change(row, updatesTable.row(forgottenUpdate(updatesTable.record(row), nowMs)));
    for (const row of sends.read('correlation_id = ? OR send_id = ?', [id, id]))
      sends.change(row, sendsTable.row(forgottenSend(sendsTable.record(row))));
    for (const row of dispatches.read('correlation_id = ?', [id])) {
      const kept = dispatchesTable.record(row);
      const isPacked = row['omitted'] === packedMark;
      const { body, omitted } = isPacked
        ? packedRow(unpacked(kept).map(forgottenDispatch), kept)
        : forgottenDispatch(kept);
      dispatches.change(row, dispatchesTable.row({ body, omitted }));
    }
  }
}
