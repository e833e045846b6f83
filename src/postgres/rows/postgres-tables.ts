import type { DispatchRecord, SendRecord, UpdateRecord } from '@sluice/journal';
import type { PostgresQuery, PostgresRow, PostgresValue } from './connections.js';

interface Column {
  readonly field: string;
  readonly name: string;
  readonly type: string;
}

/** A table of records: its columns stand under the fields of the record. */
export interface PostgresTable<Record> {
  readonly name: string;
  /** The name of the table in a file: secrets are taken out of both alike. */
  readonly kind: string;
  /** The field that names a record, and the columns that a filter asks for. */
  readonly idField: keyof Record & string;
  readonly idColumn: string;
  readonly correlationColumn: string;
  readonly timeColumn: string;
  readonly columns: readonly Column[];
  /** The statement that makes the table. */
  readonly sql: string;
}

/** The partition of a row, as the journal is divided now. */
export const partitionOfRow = 'coalesce(slot, 0) % (SELECT partitions FROM sluice_journal)';

const seq = 'seq int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY';

export const updatesTable = recordTable<UpdateRecord>(
  'updates',
  { idField: 'eventId', correlation: 'eventId', time: 'acceptedAtMs' },
  {
    seq,
    eventId: 'event_id text NOT NULL UNIQUE',
    channel: 'channel text NOT NULL',
    accountId: 'account_id text NOT NULL',
    updateId: 'update_id text',
    lane: 'lane text',
    slot: 'slot int4',
    receivedAtMs: 'received_at_ms float8 NOT NULL',
    body: 'body text',
    state: `state text NOT NULL CHECK (state IN ('accepted', 'handling', 'ended', 'dead'))`,
    attempts: 'attempts int4 NOT NULL',
    retriedAfterSeq: 'retried_after_seq int8',
    joinedTo: 'joined_to text',
    acceptedAtMs: 'accepted_at_ms float8 NOT NULL',
    endedAtMs: 'ended_at_ms float8',
    outcome: 'outcome text',
    reason: 'reason text',
  },
);

export const sendsTable = recordTable<SendRecord>(
  'sends',
  { idField: 'sendId', correlation: 'correlationId', time: 'preparedAtMs' },
  {
    seq,
    sendId: 'send_id text NOT NULL UNIQUE',
    slot: 'slot int4',
    correlationId: 'correlation_id text',
    kind: 'kind text NOT NULL',
    fingerprint: 'fingerprint text NOT NULL',
    channel: 'channel text',
    accountId: 'account_id text',
    body: 'body text NOT NULL',
    shown: 'shown text',
    state: `state text NOT NULL CHECK (state IN ('prepared', 'sending', 'sent', 'cancelled', 'failed'))`,
    attempts: 'attempts int4 NOT NULL',
    preparedAtMs: 'prepared_at_ms float8 NOT NULL',
    endedAtMs: 'ended_at_ms float8',
    providerMessageId: 'provider_message_id text',
    cause: 'cause text',
    reason: 'reason text',
  },
);

/** It is divided by days. A column of a table that is divided cannot number its rows before PostgreSQL 17. */
export const dispatchesTable = recordTable<DispatchRecord>(
  'dispatches',
  { idField: 'eventId', correlation: 'correlationId', time: 'occurredAtMs' },
  {
    seq: `seq int8 NOT NULL DEFAULT nextval('sluice_dispatch_numbers')`,
    eventId: 'event_id text NOT NULL',
    family: 'family text NOT NULL',
    correlationId: 'correlation_id text NOT NULL',
    sessionId: 'session_id text',
    status: 'status text NOT NULL',
    occurredAtMs: 'occurred_at_ms float8 NOT NULL',
    omitted: 'omitted text',
    body: 'body text NOT NULL',
  },
  ' PARTITION BY RANGE (occurred_at_ms)',
);

function recordTable<Record>(
  kind: string,
  of: Readonly<globalThis.Record<'idField' | 'correlation' | 'time', keyof Record & string>>,
  declared: Readonly<globalThis.Record<keyof Record & string, string>>,
  division = '',
): PostgresTable<Record> {
  const columns = Object.entries<string>(declared).map(([field, declaration]): Column => {
    const [name = '', type = ''] = declaration.split(' ');
    return { field, name, type };
  });
  const columnOf = (field: string): string =>
    columns.find((column) => column.field === field)?.name ?? field;
  const name = `sluice_${kind}`;
  return {
    ...{ name, kind, columns, idField: of.idField },
    idColumn: columnOf(of.idField),
    correlationColumn: columnOf(of.correlation),
    timeColumn: columnOf(of.time),
    sql: `CREATE TABLE ${name} (${Object.values(declared).join(', ')})${division}`,
  };
}

/** The columns of a table for `SELECT`, under the names of the fields. */
export function fieldsOf(
  table: Pick<PostgresTable<unknown>, 'columns'>,
  withoutBody: boolean,
): string {
  return table.columns
    .filter(({ field }) => !withoutBody || field !== 'body')
    .map(({ field, name }) => `${name} AS "${field}"`)
    .join(', ');
}

/** The record of a row that was read by `fieldsOf`. A column is null if its field is absent. */
export function recordOf<Record>(_: PostgresTable<Record>, row: PostgresRow): Record {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Record; // the columns are its fields
}

/** Adds records, in their order. */
export function insertAll<Record>(
  writes: JoinedWrites,
  { name, columns }: PostgresTable<Record>,
  records: readonly Omit<Record, 'seq'>[],
): void {
  if (records.length === 0) return;
  const written = columns.filter((column) => column.field !== 'seq');
  const names = written.map((column) => column.name).join(', ');
  writes.add(
    `INSERT INTO ${name} (${names}) SELECT ${names} FROM unnest(${typesOf(written)})
      WITH ORDINALITY AS given (${names}, at) ORDER BY at`,
    written.map(({ field }) => valuesOf(records, field)),
  );
}

/** A record as it is to be, and whether its body is to be another. */
export interface ChangedRecord<Record> {
  readonly record: Record;
  readonly hasBody: boolean;
}

/** Writes changed records. */
export function updateAll<Record extends object>(
  writes: JoinedWrites,
  { name, columns, idColumn }: PostgresTable<Record>,
  changed: readonly ChangedRecord<Record>[],
): void {
  if (changed.length === 0) return;
  const written = [
    ...columns.filter((column) => column.field !== 'seq'),
    { field: 'hasBody', name: 'has_body', type: 'bool' },
  ];
  const names = written.map((column) => column.name).join(', ');
  const sets = written
    .filter((column) => column.field !== 'hasBody' && column.name !== idColumn)
    .map((column) =>
      column.field === 'body'
        ? 'body = CASE WHEN given.has_body THEN given.body ELSE kept.body END'
        : `${column.name} = given.${column.name}`,
    );
  const given = changed.map(({ record, hasBody }) => ({ ...record, hasBody }));
  writes.add(
    `UPDATE ${name} AS kept SET ${sets.join(', ')} FROM unnest(${typesOf(written)}) AS given (${names})
      WHERE kept.${idColumn} = given.${idColumn}`,
    written.map(({ field }) => valuesOf(given, field)),
  );
}

function typesOf(columns: readonly Column[]): string {
  return columns.map(({ type }, at) => `$${at + 1}::${type}[]`).join(', ');
}

function valuesOf(records: readonly object[], field: string): PostgresValue[] {
  return records.map((record) => (Reflect.get(record, field) ?? null) as PostgresValue); // the fields of records are plain
}

type Values = NonNullable<Parameters<PostgresQuery>[1]>;

/**
 * The writes at the end of a transaction, as one statement: each is a part of its `WITH`, so that all of them cost one round trip.
 * None sees what another has written, and no two write the same row.
 */
export class JoinedWrites {
  readonly #parts: string[] = [];
  readonly #values: Values[number][] = [];

  /** Adds a write. @param name for parts that come after it and read what it returns. */
  add(sql: string, values: Values, name = `part_${this.#parts.length}`): void {
    const before = this.#values.length;
    const numbered = sql.replaceAll(/\$(\d+)/g, (_, at) => `$${before + Number(at)}`);
    this.#parts.push(`${name} AS (${numbered})`);
    this.#values.push(...values);
  }

  /** Runs all of them, if there are any. */
  async run(query: PostgresQuery): Promise<void> {
    if (this.#parts.length > 0)
      await query(`WITH ${this.#parts.join(',\n')} SELECT 1`, this.#values);
  }
}
