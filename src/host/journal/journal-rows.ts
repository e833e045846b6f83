import type { SqliteRow } from '../sqlite/open-sqlite.js';
import type { DispatchRecord, JournalFilter, SendRecord, UpdateRecord } from './journal.js';

/** The columns of each table, by the fields of its records. */
const updateColumns = {
  seq: 'seq',
  eventId: 'event_id',
  channel: 'channel',
  accountId: 'account_id',
  updateId: 'update_id',
  receivedAtMs: 'received_at_ms',
  body: 'body',
  state: 'state',
  attempts: 'attempts',
  acceptedAtMs: 'accepted_at_ms',
  endedAtMs: 'ended_at_ms',
  outcome: 'outcome',
  reason: 'reason',
} as const satisfies Record<keyof UpdateRecord, string>;

const sendColumns = {
  seq: 'seq',
  sendId: 'send_id',
  correlationId: 'correlation_id',
  kind: 'kind',
  fingerprint: 'fingerprint',
  channel: 'channel',
  accountId: 'account_id',
  body: 'body',
  state: 'state',
  attempts: 'attempts',
  preparedAtMs: 'prepared_at_ms',
  endedAtMs: 'ended_at_ms',
  providerMessageId: 'provider_message_id',
  cause: 'cause',
  reason: 'reason',
} as const satisfies Record<keyof SendRecord, string>;

const dispatchColumns = {
  seq: 'seq',
  eventId: 'event_id',
  family: 'family',
  correlationId: 'correlation_id',
  sessionId: 'session_id',
  status: 'status',
  occurredAtMs: 'occurred_at_ms',
  omitted: 'omitted',
  body: 'body',
} as const satisfies Record<keyof DispatchRecord, string>;

/** A table of the journal: how its records are asked for, and made of rows. */
export interface JournalTable<Row> {
  readonly name: string;
  readonly idColumn: string;
  readonly correlationColumn: string;
  readonly timeColumn: string;
  record(row: SqliteRow): Row;
}

/** Columns that are null only where their field is absent. */
function recordOf<Row>(columns: Readonly<Record<string, string>>, row: SqliteRow): Row {
  const entries = Object.entries(columns).flatMap(([field, column]) => {
    const value = row[column] ?? null;
    return value === null ? [] : [[field, value]];
  });
  return Object.fromEntries(entries) as Row; // the tables are STRICT, and their columns are those of the records
}

export const updatesTable: JournalTable<UpdateRecord> = {
  name: 'updates',
  idColumn: 'event_id',
  correlationColumn: 'event_id',
  timeColumn: 'accepted_at_ms',
  record: (row) => recordOf<UpdateRecord>(updateColumns, row),
};

export const sendsTable: JournalTable<SendRecord> = {
  name: 'sends',
  idColumn: 'send_id',
  correlationColumn: 'correlation_id',
  timeColumn: 'prepared_at_ms',
  record: (row) => recordOf<SendRecord>(sendColumns, row),
};

export const dispatchesTable: JournalTable<DispatchRecord> = {
  name: 'dispatches',
  idColumn: 'event_id',
  correlationColumn: 'correlation_id',
  timeColumn: 'occurred_at_ms',
  record: (row) => ({
    ...recordOf<Omit<DispatchRecord, 'sessionId'>>(dispatchColumns, row),
    sessionId: typeof row['session_id'] === 'string' ? row['session_id'] : null, // null is its value
  }),
};

/** What a reader may ask of a table. */
export type RowFilter = JournalFilter & {
  readonly states?: readonly string[];
  readonly family?: string;
};
