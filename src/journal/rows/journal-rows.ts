import type { SqliteValue } from '../database/sqlite-values.js';
import { journalError } from '../errors.js';
import type { DispatchRecord, SendRecord, UpdateRecord } from '../journal.js';
import { markedOutcome, unmarkedOutcome } from '../scrub-mark.js';
import type { RowValues, SummedTable } from './row-sums.js';

/** The columns of a table of records that a filter asks for. */
export interface FilteredColumns {
  readonly idColumn: string;
  readonly correlationColumn: string;
  readonly timeColumn: string;
}

/** A table that a reader of the journal may ask for records. */
export interface RecordTable<Row> extends JournalTable<Row>, FilteredColumns {}

const seq = 'seq INTEGER PRIMARY KEY AUTOINCREMENT';

/** The column that is the last of its table in a file. */
const slotColumn = 'slot INTEGER';

/** The columns of updates that each database has. */
export const updateFields = {
  seq,
  eventId: 'event_id TEXT NOT NULL UNIQUE',
  channel: 'channel TEXT NOT NULL',
  accountId: 'account_id TEXT NOT NULL',
  updateId: 'update_id TEXT',
  lane: 'lane TEXT',
  receivedAtMs: 'received_at_ms REAL NOT NULL',
  body: 'body TEXT',
  state: `state TEXT NOT NULL CHECK (state IN ('accepted', 'handling', 'ended', 'dead'))`,
  attempts: 'attempts INTEGER NOT NULL',
  acceptedAtMs: 'accepted_at_ms REAL NOT NULL',
  endedAtMs: 'ended_at_ms REAL',
  outcome: 'outcome TEXT',
  reason: 'reason TEXT',
  slot: slotColumn,
};

const plainUpdates = journalTable<
  Omit<UpdateRecord, 'retriedAfterSeq' | 'joinedTo' | 'scrubbedAtMs'>
>('updates', updateFields);

export const updatesTable: RecordTable<UpdateRecord> = {
  ...plainUpdates,
  idColumn: 'event_id',
  correlationColumn: 'event_id',
  timeColumn: 'accepted_at_ms',
  row: ({ retriedAfterSeq, joinedTo, ...fields }) => {
    const row = plainUpdates.row(markedOutcome(fields));
    if (retriedAfterSeq !== undefined)
      return { ...row, outcome: `retried after send ${retriedAfterSeq}` };
    return joinedTo === undefined ? row : { ...row, outcome: `joined to ${joinedTo}` };
  },
  record: (row) => {
    const { outcome, ended_at_ms: endedAtMs } = row;
    const mark = endedAtMs === null ? markOf(outcome) : undefined;
    return mark === undefined
      ? unmarkedOutcome(plainUpdates.record(row))
      : { ...plainUpdates.record({ ...row, outcome: null }), ...mark };
  },
};

/**
 * An update that is open has no outcome. If an operator had it tried again, its column says after which of its sends that
 * was, and if it joined another update, which one; so files of this version need no column more.
 */
function markOf(outcome: unknown): Pick<UpdateRecord, 'retriedAfterSeq' | 'joinedTo'> | undefined {
  if (typeof outcome !== 'string') return undefined;
  const [, afterSeq] = /^retried after send (\d+)$/.exec(outcome) ?? [];
  if (afterSeq !== undefined) return { retriedAfterSeq: Number(afterSeq) };
  const [, joinedTo] = /^joined to (.+)$/s.exec(outcome) ?? [];
  return joinedTo === undefined ? undefined : { joinedTo };
}

export const sendsTable: RecordTable<SendRecord> = {
  ...journalTable<SendRecord>('sends', {
    seq,
    sendId: 'send_id TEXT NOT NULL UNIQUE',
    correlationId: 'correlation_id TEXT',
    kind: 'kind TEXT NOT NULL',
    fingerprint: 'fingerprint TEXT NOT NULL',
    channel: 'channel TEXT',
    accountId: 'account_id TEXT',
    body: 'body TEXT NOT NULL',
    shown: 'shown TEXT',
    state: `state TEXT NOT NULL CHECK (state IN ('prepared', 'sending', 'sent', 'cancelled', 'failed'))`,
    attempts: 'attempts INTEGER NOT NULL',
    preparedAtMs: 'prepared_at_ms REAL NOT NULL',
    endedAtMs: 'ended_at_ms REAL',
    providerMessageId: 'provider_message_id TEXT',
    cause: 'cause TEXT',
    reason: 'reason TEXT',
    slot: slotColumn,
  }),
  idColumn: 'send_id',
  correlationColumn: 'correlation_id',
  timeColumn: 'prepared_at_ms',
};

/** The columns of dispatches that each database has. */
export const dispatchFields = {
  seq,
  eventId: 'event_id TEXT NOT NULL',
  family: 'family TEXT NOT NULL',
  correlationId: 'correlation_id TEXT NOT NULL',
  sessionId: 'session_id TEXT',
  status: 'status TEXT NOT NULL',
  occurredAtMs: 'occurred_at_ms REAL NOT NULL',
  omitted: 'omitted TEXT',
  body: 'body TEXT NOT NULL',
};

/** In a file a proof stands beside the dispatches that share a row. */
const dispatches = journalTable<Omit<DispatchRecord, 'proof'>>('dispatches', dispatchFields);

export const dispatchesTable: RecordTable<DispatchRecord> = {
  ...dispatches,
  idColumn: 'event_id',
  correlationColumn: 'correlation_id',
  timeColumn: 'occurred_at_ms',
  record: (row) => {
    const record = dispatches.record(row);
    return { ...record, sessionId: record.sessionId ?? null }; // null is a value of this field
  },
};

/** A session; its store alone reads the table. */
export const sessionsTable = journalTable<{
  readonly seq: number;
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly body: string;
  readonly slot: number;
}>('sessions', {
  seq,
  sessionKey: 'session_key TEXT NOT NULL UNIQUE',
  sessionId: 'session_id TEXT NOT NULL',
  body: 'body TEXT NOT NULL',
  slot: slotColumn,
});

/** A message of a transcript, with the number of messages, and of prompts among them, up to it. */
export const transcriptsTable = journalTable<{
  readonly seq: number;
  readonly sessionId: string;
  readonly messages: number;
  readonly prompts: number;
  readonly body: string;
}>('transcripts', {
  seq,
  sessionId: 'session_id TEXT NOT NULL',
  messages: 'messages INTEGER NOT NULL',
  prompts: 'prompts INTEGER NOT NULL',
  body: 'body TEXT NOT NULL',
});

/** A value of a namespace: an extension's, or the host's own. */
export const keyValuesTable = journalTable<{
  readonly seq: number;
  readonly namespace: string;
  readonly key: string;
  readonly version: number;
  readonly expiresAtMs: number;
  readonly bytes: number;
  readonly body: string;
}>('key_values', {
  seq,
  namespace: 'namespace TEXT NOT NULL',
  key: 'key TEXT NOT NULL',
  version: 'version INTEGER NOT NULL',
  expiresAtMs: 'expires_at_ms REAL',
  bytes: 'bytes INTEGER NOT NULL',
  body: 'body TEXT NOT NULL',
});

/** Every table of a journal. */
export const journalTables = [
  updatesTable,
  sendsTable,
  dispatchesTable,
  sessionsTable,
  transcriptsTable,
  keyValuesTable,
] as const;

/** A table of the journal: its statement, and how a record becomes a row and a row a record. */
interface JournalTable<Row> extends SummedTable {
  /** The statement that makes the table. */
  readonly sql: string;
  /** Its columns under the fields of its records, as `CREATE TABLE` declares them. */
  readonly declared: Readonly<Record<string, string>>;
  /** Turns some fields of a record into columns. A field that is undefined is null. A field that no record has is left out. */
  row(fields: { readonly [Field in keyof Row]?: SqliteValue | undefined }): RowValues;
  /**
   * Reads the record in a row, or the part of it whose columns the row has. A column is null if its field is absent.
   *
   * @throws SluiceError `database-damaged` if a value is not of the type of its column.
   */
  record(row: Readonly<Record<string, unknown>>): Row;
}

/**
 * Describes a table by its columns: each stands under the field of its records, as `CREATE TABLE` declares it. The two
 * sums of a row are added.
 *
 * @example
 * journalTable<{ seq: number; body: string }>('notes', { seq: 'seq INTEGER PRIMARY KEY', body: 'body TEXT NOT NULL' });
 */
export function journalTable<Row>(
  name: string,
  declared: Readonly<Record<keyof Row & string, string>>,
): JournalTable<Row> {
  const declarations: readonly string[] = Object.values(declared);
  const fields = Object.entries<string>(declared).map(([field, declaration]) => {
    const [column = '', type] = declaration.split(' ');
    const isRequired = /NOT NULL|PRIMARY KEY/.test(declaration);
    return { field, column, type: type === 'TEXT' ? 'string' : 'number', isRequired };
  });
  const columnOf = new Map(fields.map(({ field, column }) => [field, column]));
  const bodySum = declarations.includes('body TEXT')
    ? 'body_sum INTEGER'
    : 'body_sum INTEGER NOT NULL';
  const first = declarations.filter((column) => column !== slotColumn);
  const all = [...first, bodySum, 'sum INTEGER NOT NULL'];
  const added = first.length < declarations.length ? `, ${slotColumn}` : '';
  return {
    ...{ name, declared },
    columns: fields.map(({ column }) => column).filter((column) => column !== 'body'),
    sql: `CREATE TABLE ${name} (\n${all.map((column) => `    ${column}`).join(',\n')}\n  ${added}) STRICT`,
    row: (given) =>
      Object.fromEntries(
        Object.entries<SqliteValue | undefined>(given).flatMap(([field, value]) => {
          const column = columnOf.get(field);
          return column === undefined ? [] : [[column, value ?? null] as const];
        }),
      ),
    record: (row) => {
      const record: Record<string, unknown> = {};
      for (const { field, column, type, isRequired } of fields) {
        const value = row[column] ?? undefined;
        if (value === undefined ? isRequired && row[column] === null : typeof value !== type)
          throw journalError('database-damaged', {
            path: name,
            problem: `${column} is no ${type}`,
          });
        if (value !== undefined) record[field] = value;
      }
      return record as Row; // each value was checked
    },
  };
}
