import type { SqliteRow } from '../../sqlite/open-sqlite.js';
import type { DispatchRecord, JournalFilter, SendRecord, UpdateRecord } from '../journal.js';
import type { SummedTable } from './row-sums.js';

/** The columns of each table, by the fields of its records. */
const updateColumns = {
  seq: 'seq',
  eventId: 'event_id',
  channel: 'channel',
  accountId: 'account_id',
  updateId: 'update_id',
  lane: 'lane',
  receivedAtMs: 'received_at_ms',
  body: 'body',
  state: 'state',
  attempts: 'attempts',
  acceptedAtMs: 'accepted_at_ms',
  endedAtMs: 'ended_at_ms',
  outcome: 'outcome',
  reason: 'reason',
} as const satisfies Record<Exclude<keyof UpdateRecord, 'retriedAfterSeq'>, string>;

const sendColumns = {
  seq: 'seq',
  sendId: 'send_id',
  correlationId: 'correlation_id',
  kind: 'kind',
  fingerprint: 'fingerprint',
  channel: 'channel',
  accountId: 'account_id',
  body: 'body',
  shown: 'shown',
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
export interface JournalTable<Row> extends SummedTable {
  readonly idColumn: string;
  readonly correlationColumn: string;
  readonly timeColumn: string;
  record(row: SqliteRow): Row;
}

/** All columns but the body, which has a sum of its own. */
function headOf(columns: Readonly<Record<string, string>>): readonly string[] {
  return Object.values(columns).filter((column) => column !== 'body');
}

/** Columns that are null only where their field is absent. */
function recordOf<Row>(columns: Readonly<Record<string, string>>, row: SqliteRow): Row {
  const entries = Object.entries(columns).flatMap(([field, column]) => {
    const value = row[column] ?? null;
    return value === null ? [] : [[field, value]];
  });
  return Object.fromEntries(entries) as Row; // the tables are STRICT, their sums fit, and their columns are those of the records
}

export const updatesTable: JournalTable<UpdateRecord> = {
  name: 'updates',
  columns: headOf(updateColumns),
  idColumn: 'event_id',
  correlationColumn: 'event_id',
  timeColumn: 'accepted_at_ms',
  record: (row) => {
    const retriedAfterSeq = retriedAfterSeqOf(row['outcome']);
    return retriedAfterSeq === undefined
      ? recordOf<UpdateRecord>(updateColumns, row)
      : { ...recordOf<UpdateRecord>(updateColumns, { ...row, outcome: null }), retriedAfterSeq };
  },
};

/**
 * An update that is open has no outcome. One that was tried again says in the same column after which of its sends that was,
 * so files of this version need no column more.
 */
export function outcomeOfRetried(afterSeq: number): string {
  return `retried after send ${afterSeq}`;
}

function retriedAfterSeqOf(outcome: SqliteRow[string] | undefined): number | undefined {
  const [, seq] = /^retried after send (\d+)$/.exec(String(outcome)) ?? [];
  return seq === undefined ? undefined : Number(seq);
}

export const sendsTable: JournalTable<SendRecord> = {
  name: 'sends',
  columns: headOf(sendColumns),
  idColumn: 'send_id',
  correlationColumn: 'correlation_id',
  timeColumn: 'prepared_at_ms',
  record: (row) => recordOf<SendRecord>(sendColumns, row),
};

export const dispatchesTable: JournalTable<DispatchRecord> = {
  name: 'dispatches',
  columns: headOf(dispatchColumns),
  idColumn: 'event_id',
  correlationColumn: 'correlation_id',
  timeColumn: 'occurred_at_ms',
  record: (row) => ({
    ...recordOf<Omit<DispatchRecord, 'sessionId'>>(dispatchColumns, row),
    sessionId: typeof row['session_id'] === 'string' ? row['session_id'] : null, // null is its value
  }),
};

/** Sessions, and their transcripts: only their store reads them. */
export const sessionsTable: SummedTable = {
  name: 'sessions',
  columns: ['seq', 'session_key', 'session_id'],
};

export const transcriptsTable: SummedTable = {
  name: 'transcripts',
  columns: ['seq', 'session_id', 'messages', 'prompts'],
};

/** Every table of a journal. */
export const journalTables: readonly SummedTable[] = [
  updatesTable,
  sendsTable,
  dispatchesTable,
  sessionsTable,
  transcriptsTable,
];

/** What a reader may ask of a table. */
export type RowFilter = JournalFilter & {
  readonly states?: readonly string[];
  readonly family?: string;
  readonly lane?: string;
  readonly withoutBody?: boolean;
};
