import { systemClock } from 'sluice-kernel';
import { copyJournal } from '../backup/backup-journal.js';
import { replaced } from '../backup/replace-journal.js';
import { inTurns } from '../database/in-turns.js';
import type { SqliteDatabase } from '../database/open-sqlite.js';
import { openJournalFile } from '../file/journal-file.js';
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
  type ForgetfulRows,
  type Forgotten,
  type Found,
  forgetPage,
  forgetTexts,
  forgottenDispatch,
  forgottenSend,
  forgottenUpdate,
  type Whose,
} from './forget-texts.js';

/**
 * Removes the texts of a sender or a conversation from the file of a journal that no host uses: from a copy, which then takes its
 * place. So nothing of them is left in free pages or the log, and a run that was killed or stopped has changed nothing (durability
 * §13.6).
 *
 * @param isDry only counts: a host may run meanwhile.
 * @param signal ends it before anything has changed.
 * @throws as `compactJournal`.
 * @example
 * const { messages } = await forgetInFile('./sluice.db', { of: 'sender', id: '4711' }, false, signal);
 */
export async function forgetInFile(
  path: string,
  whose: Whose,
  isDry: boolean,
  signal: AbortSignal,
): Promise<Forgotten> {
  const forget = (database: SqliteDatabase): Promise<Forgotten> =>
    forgetTexts(rowsIn(database, signal), whose, isDry);
  if (isDry) {
    using database = openJournalFile(path, { readonly: true });
    return await forget(database);
  }
  const make = async (made: string, file: string): Promise<Forgotten> => {
    await copyJournal(path, made, signal, file);
    using database = openJournalFile(made, { wholeCheckBytes: 0 });
    database.exec('PRAGMA secure_delete = ON'); // no text that is gone is left in a free page
    const forgotten = await forget(database);
    database.exec('PRAGMA incremental_vacuum');
    database.exec('PRAGMA journal_mode = DELETE'); // it takes its log in, and can get another name
    return forgotten;
  };
  return (await replaced(path, signal, make)).more;
}

function rowsIn(database: SqliteDatabase, signal: AbortSignal): ForgetfulRows {
  const sessions = tableRows(database, sessionsTable);
  return {
    ...sqliteRecords(database),
    keyValues: new SqliteKeyValues(database, () => systemClock.now()),
    sessions: async (afterKey) =>
      sessions
        .read('session_key > ? ORDER BY session_key LIMIT ?', [afterKey, forgetPage])
        .map(sessionsTable.record),
    forget: (found) => inTurns(forgetRows(database, found), signal),
  };
}

/** Does it in one transaction, a step for each message. */
function* forgetRows(database: SqliteDatabase, found: Found): Generator<void, void> {
  const values = new SqliteKeyValues(database, () => systemClock.now());
  database.exec('BEGIN');
  for (const table of [transcriptsTable, sessionsTable])
    for (const id of found.sessions) tableRows(database, table).delete('session_id = ?', id);
  for (const { namespace, key } of found.questions) values.write(namespace, key, undefined, {});
  yield* forgetMessages(database, found.messages);
  database.exec('COMMIT');
}

function* forgetMessages(database: SqliteDatabase, ids: readonly string[]): Generator<void, void> {
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
    yield;
  }
}
