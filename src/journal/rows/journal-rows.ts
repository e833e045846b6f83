import type { SqliteRow } from '../database/open-sqlite.js';
import type { SqliteValue } from '../database/sqlite-values.js';
import type { DispatchRecord, JournalFilter, SendRecord, UpdateRecord } from '../journal.js';
import type { RowValues, SummedTable } from './row-sums.js';

/** A table that a reader of the journal may ask for records. */
export interface RecordTable<Row> extends JournalTable<Row> {
  readonly idColumn: string;
  readonly correlationColumn: string;
  readonly timeColumn: string;
}

const seq = 'seq INTEGER PRIMARY KEY AUTOINCREMENT';

/** The column that files of version 3 do not have. */
export const slotColumn = 'slot INTEGER';

const updates = journalTable<Omit<UpdateRecord, 'retriedAfterSeq' | 'joinedTo'>>('updates', {
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
});

export const updatesTable: RecordTable<UpdateRecord> = {
  ...updates,
  idColumn: 'event_id',
  correlationColumn: 'event_id',
  timeColumn: 'accepted_at_ms',
  row: ({ retriedAfterSeq, joinedTo, ...fields }) => {
    const row = updates.row(fields);
    if (retriedAfterSeq !== undefined)
      return { ...row, outcome: `retried after send ${retriedAfterSeq}` };
    return joinedTo === undefined ? row : { ...row, outcome: `joined to ${joinedTo}` };
  },
  record: (row) => {
    const { outcome, ended_at_ms: endedAtMs } = row;
    const mark = endedAtMs === null ? markOf(outcome) : undefined;
    return mark === undefined
      ? updates.record(row)
      : { ...updates.record({ ...row, outcome: null }), ...mark };
  },
};

/**
 * An update that is open has no outcome. If an operator had it tried again, its column says after which of its sends that
 * was, and if it joined another update, which one; so files of this version need no column more.
 */
function markOf(
  outcome: SqliteRow[string] | undefined,
): Pick<UpdateRecord, 'retriedAfterSeq' | 'joinedTo'> | undefined {
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

const dispatches = journalTable<DispatchRecord>('dispatches', {
  seq,
  eventId: 'event_id TEXT NOT NULL',
  family: 'family TEXT NOT NULL',
  correlationId: 'correlation_id TEXT NOT NULL',
  sessionId: 'session_id TEXT',
  status: 'status TEXT NOT NULL',
  occurredAtMs: 'occurred_at_ms REAL NOT NULL',
  omitted: 'omitted TEXT',
  body: 'body TEXT NOT NULL',
});

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

/** The conditions that a reader may set for a table. */
export type RowFilter = JournalFilter & {
  readonly states?: readonly string[];
  readonly family?: string;
  readonly lane?: string;
  readonly parts?: readonly number[];
  readonly withoutBody?: boolean;
};

/** A table of the journal: its statement, and how a record becomes a row and a row a record. */
interface JournalTable<Row> extends SummedTable {
  /** The statement that makes the table. */
  readonly sql: string;
  /** Turns some fields of a record into columns. A field that is undefined is null. A field that no record has is left out. */
  row(fields: { readonly [Field in keyof Row]?: SqliteValue | undefined }): RowValues;
  record(row: SqliteRow): Row;
}

/**
 * Describes a table by its columns: each stands under the field of its records, as `CREATE TABLE` declares it. The two
 * sums of a row are added.
 *
 * @example
 * journalTable<{ seq: number; body: string }>('notes', { seq: 'seq INTEGER PRIMARY KEY', body: 'body TEXT NOT NULL' });
 */
function journalTable<Row>(
  name: string,
  declared: Readonly<Record<keyof Row & string, string>>,
): JournalTable<Row> {
  const declarations: readonly string[] = Object.values(declared);
  const columnOf = new Map(
    Object.entries<string>(declared).map(([field, column]) => [field, nameOf(column)]),
  );
  const bodySum = declarations.includes('body TEXT')
    ? 'body_sum INTEGER'
    : 'body_sum INTEGER NOT NULL';
  const first = declarations.filter((column) => nameOf(column) !== 'slot');
  const all = [...first, bodySum, 'sum INTEGER NOT NULL'];
  const added = first.length < declarations.length ? `, ${slotColumn}` : ''; // as `ALTER TABLE` writes it
  return {
    name,
    columns: declarations.map(nameOf).filter((column) => column !== 'body'),
    sql: `CREATE TABLE ${name} (\n${all.map((column) => `    ${column}`).join(',\n')}\n  ${added}) STRICT`,
    row: (fields) =>
      Object.fromEntries(
        Object.entries<SqliteValue | undefined>(fields).flatMap(([field, value]) => {
          const column = columnOf.get(field);
          return column === undefined ? [] : [[column, value ?? null] as const];
        }),
      ),
    record: (row) => {
      const entries = [...columnOf].map(([field, column]) => [field, row[column] ?? null] as const);
      const present = entries.filter(([, value]) => value !== null); // a column is null if its field is absent
      return Object.fromEntries(present) as Row; // the tables are STRICT, their sums fit, and their columns are those of the records
    },
  };
}

function nameOf(declaration: string): string {
  return declaration.split(' ', 1).join('');
}
