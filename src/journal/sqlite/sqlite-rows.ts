import type { AddDispatches } from '../commit/waiting-dispatches.js';
import type { SqliteDatabase, SqliteRow } from '../database/open-sqlite.js';
import type { SqliteValue } from '../database/sqlite-values.js';
import { openSends, openUpdates, type SendState, type UpdateState } from '../journal.js';
import type { JournalRows } from '../journal-changes.js';
import type { RecordChain } from '../record/record-chain.js';
import type { CleanText } from '../rows/clean-body.js';
import {
  dispatchesTable,
  type RecordTable,
  sendsTable,
  updatesTable,
} from '../rows/journal-rows.js';
import { isNotEnded, isOpenUpdate } from '../rows/journal-schema.js';
import { packedMark, packedRow } from '../rows/packed-dispatches.js';
import { tableRows } from '../rows/table-rows.js';
import type { ChangeableRows, FieldChanges, Standing } from '../send-changes.js';
import { Held } from './held.js';

type StandingRow<State extends string> = SqliteRow & Standing<State>;

/**
 * The rows that the changes of a journal are made to. Each change is within a transaction of the caller.
 *
 * @param how.clean hides secrets in texts.
 * @param how.mostHeld rows of each table that are held: none beside a host, which writes to them, too.
 */
export function sqliteRows(
  database: SqliteDatabase,
  { clean, mostHeld = usualHeld }: { readonly clean?: CleanText; readonly mostHeld?: number } = {},
): JournalRows<StandingRow<UpdateState>, StandingRow<SendState>> {
  const updates = tableRows(database, updatesTable, clean);
  const sends = tableRows(database, sendsTable, clean);
  const revision = () => database.revision;
  const lastSend = database.prepare('SELECT max(seq) AS seq FROM sends WHERE correlation_id = ?');
  const openIn = database.prepare(
    `SELECT count(*) AS open FROM (SELECT 1 FROM updates WHERE lane = ? AND ${isOpenUpdate} LIMIT ?)`,
  );
  const isDead = `state = 'dead' AND ${isNotEnded}`;
  return {
    updates: changeable(updates, updatesTable, openUpdates, new Held(mostHeld, revision)),
    sends: changeable(sends, sendsTable, openSends, new Held(mostHeld, revision)),
    openIn: (lane, most) => Number(openIn.get(lane, most)?.['open'] ?? 0),
    dead: (reason) => {
      const rows =
        reason === undefined
          ? updates.read(isDead, [])
          : updates.read(
              `${isDead} AND (outcome = 'joined' OR outcome LIKE 'scrubbed at %: joined') AND reason = ?`,
              [reason],
              {
                withoutBody: true,
              },
            );
      return rows as StandingRow<UpdateState>[]; // the table's own check
    },
    lastSend: (eventId) => Number(lastSend.get(eventId)?.['seq'] ?? 0),
  };
}

/** Rows of one kind that are held, at most. */
const usualHeld = 1_000;

/** The rows of one kind as changes see them. Those that were written here and are open are held: they are not read again. */
function changeable<
  Record extends { readonly [Field in keyof Record]?: SqliteValue | undefined },
  State extends string,
>(
  rows: ReturnType<typeof tableRows>,
  table: RecordTable<Record>,
  open: readonly State[],
  held: Held<StandingRow<State>>,
): ChangeableRows<Record, StandingRow<State>> {
  const { idColumn } = table;
  const hold = (written: SqliteRow): void => {
    const row = written as StandingRow<State>; // the table's own check
    const id = String(row[idColumn]);
    if (open.includes(row.state)) held.set(id, row);
    else held.delete(id);
  };
  const find = (id: string): StandingRow<State> | undefined =>
    held.get(id) ?? (rows.find(`${idColumn} = ?`, id) as StandingRow<State> | undefined); // the same
  return {
    find,
    bodyOf: (row) => {
      const [whole] = rows.read('seq = ?', [Number(row['seq'])]);
      return typeof whole?.['body'] === 'string' ? whole['body'] : undefined;
    },
    add: (record) => {
      const fields = table.row(record as FieldChanges<Record>); // some of its fields
      const row = rows.add(fields, { unlessIn: idColumn });
      if (row === undefined) return find(String(fields[idColumn]));
      hold(row);
      return undefined;
    },
    change: (row, fields) => hold(rows.change(row, table.row(fields))),
  };
}

/** The rows of dispatches: those of one message share a row (durability §4.7). */
export function sqliteDispatches(database: SqliteDatabase, chain?: RecordChain): AddDispatches {
  const rows = tableRows(database, dispatchesTable);
  return (given) => {
    const firstSeq = rows.nextSeq(); // each of them has a number
    const dispatches = chain?.link(given, firstSeq) ?? given;
    const last = dispatches.at(-1);
    if (last === undefined) return;
    const seq = firstSeq + dispatches.length - 1;
    const row =
      dispatches.length === 1 && last.proof === undefined
        ? { ...last, seq }
        : { ...packedRow(dispatches, last), seq, omitted: packedMark };
    rows.add(dispatchesTable.row(row));
  };
}
