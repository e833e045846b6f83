import type { JournalMigration } from '@sluice/journal/internal';
import { isNotEnded, isOpenSend, isOpenUpdate, journalError } from '@sluice/journal/internal';
import { systemClock } from 'sluice-kernel';
import { dispatchesByDay } from './postgres-days.js';
import { withFailures } from './postgres-failure.js';
import { slotOfNone } from './record-heads.js';
import type { PostgresConnections, PostgresQuery } from './rows/connections.js';
import { sendsTable, updatesTable } from './rows/postgres-tables.js';

/** The version of the tables below. */
export const postgresSchemaVersion = 5;

/** The table of records that prove themselves (record §2.3): the head of each chain. */
const recordTables: readonly string[] = [
  `CREATE TABLE sluice_record_heads (
    slot int4 PRIMARY KEY, number int8 NOT NULL DEFAULT 0, digest text NOT NULL DEFAULT '')`,
  `INSERT INTO sluice_record_heads (slot) SELECT generate_series(0, ${slotOfNone})`,
];

/** The statements that bring tables to the version after theirs, by their version. */
const migrations: Readonly<Record<number, readonly string[]>> = {
  4: ['ALTER TABLE sluice_dispatches ADD COLUMN proof text', ...recordTables],
};

/**
 * The statements that make the tables. A host that lives has a row, and its partitions are free when the row is gone. An epoch is a
 * number that comes once.
 */
const schema = (nowMs: number): readonly string[] => [
  `CREATE TABLE sluice_journal (
    one bool PRIMARY KEY DEFAULT true CHECK (one), version int4 NOT NULL,
    touched int8 NOT NULL DEFAULT 0, partitions int4 NOT NULL DEFAULT 1)`,
  'INSERT INTO sluice_journal (version) VALUES (0)',
  updatesTable.sql,
  sendsTable.sql,
  ...dispatchesByDay(nowMs),
  `CREATE INDEX sluice_updates_not_ended ON sluice_updates (seq) WHERE ${isNotEnded}`,
  `CREATE INDEX sluice_updates_of_lane ON sluice_updates (lane, seq) WHERE ${isOpenUpdate}`,
  'CREATE INDEX sluice_sends_of ON sluice_sends (correlation_id)',
  `CREATE INDEX sluice_sends_open ON sluice_sends (seq) WHERE ${isOpenSend}`,
  `CREATE TABLE sluice_sessions (
    session_key text PRIMARY KEY, session_id text NOT NULL, body text NOT NULL, slot int4 NOT NULL)`,
  `CREATE TABLE sluice_transcripts (
    seq int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, session_id text NOT NULL,
    messages int4 NOT NULL, prompts int4 NOT NULL, body text NOT NULL)`,
  'CREATE INDEX sluice_transcript_of ON sluice_transcripts (session_id, seq)',
  `CREATE TABLE sluice_key_values (
    namespace text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL,
    version int8 GENERATED ALWAYS AS IDENTITY, expires_at_ms float8, bytes int8 NOT NULL,
    body text NOT NULL, PRIMARY KEY (namespace, key))`,
  'CREATE INDEX sluice_key_values_that_expire ON sluice_key_values (expires_at_ms) WHERE expires_at_ms IS NOT NULL',
  `CREATE TABLE sluice_key_value_sizes (
    namespace text COLLATE "C" PRIMARY KEY, keys int8 NOT NULL, bytes int8 NOT NULL)`,
  'ALTER TABLE sluice_updates ADD COLUMN xid xid8 DEFAULT pg_current_xact_id()',
  `CREATE INDEX sluice_updates_by_xid ON sluice_updates (xid) WHERE state = 'accepted'`,
  `CREATE TABLE sluice_hosts (
    host_id text PRIMARY KEY, lease_until timestamptz NOT NULL, is_taking bool NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp(), about text NOT NULL, version int4 NOT NULL)`,
  `CREATE TABLE sluice_parts (
    part int4 PRIMARY KEY, host_id text NOT NULL REFERENCES sluice_hosts ON DELETE CASCADE, epoch int8 NOT NULL)`,
  'CREATE INDEX sluice_parts_of_host ON sluice_parts (host_id)',
  'CREATE SEQUENCE sluice_epochs',
  ...recordTables,
];

/**
 * Makes the tables of a journal, if they are not there, in one transaction, and divides its slots into partitions. Two of them at once
 * wait for each other.
 *
 * @throws SluiceError (as a rejection) `not-a-journal` if the tables are of a later version; `journal-in-use` if they are of an earlier
 *   one, or the number of partitions changes, and a host is running; `database-...`.
 */
export async function migratePostgres(
  given: PostgresConnections,
  partitions?: number,
): Promise<JournalMigration> {
  const connections = withFailures(given);
  return connections.transaction(async (query) => {
    await query(`SELECT pg_advisory_xact_lock(hashtext('sluice migrate'))`);
    const from = await versionOf(query);
    if (from === 0) {
      for (const sql of schema(systemClock.now())) await query(sql);
      await query('UPDATE sluice_journal SET version = $1', [postgresSchemaVersion]);
    } else await bringUp(query, from, connections.address);
    if (partitions !== undefined) await divide(query, partitions, connections.address);
    return { from, to: postgresSchemaVersion };
  });
}

/** Brings tables of an earlier version up to this one, if no host lives. */
async function bringUp(query: PostgresQuery, from: number, path: string): Promise<void> {
  if (migrations[from] === undefined) return checkVersion(from, path);
  await checkNoHost(query, path);
  for (let version = from; version < postgresSchemaVersion; version++)
    for (const sql of migrations[version] ?? []) await query(sql);
  await query('UPDATE sluice_journal SET version = $1', [postgresSchemaVersion]);
}

/** @throws SluiceError (as a rejection) `not-a-journal` if the tables are not there, or of another version. */
export async function checkPostgresSchema({ query, address }: PostgresConnections): Promise<void> {
  checkVersion(await versionOf(query), address);
}

function checkVersion(version: number, path: string): void {
  if (version === postgresSchemaVersion) return;
  const problem =
    version === 0
      ? 'it has no tables of a journal; `sluice journal migrate` makes them'
      : `its tables have version ${version}, and this program knows version ${postgresSchemaVersion}${version < postgresSchemaVersion ? '; `sluice journal migrate` brings them up to it when no host runs' : ''}`;
  throw journalError('not-a-journal', { path, problem });
}

/** Divides the slots into so many partitions. Rows keep their slots. */
async function divide(query: PostgresQuery, partitions: number, path: string): Promise<void> {
  const [now] = await query('SELECT partitions FROM sluice_journal');
  if (now?.['partitions'] === partitions) return;
  await checkNoHost(query, path);
  await query('UPDATE sluice_journal SET partitions = $1', [partitions]);
}

/** Looks that no host lives. None can begin until the migration has ended. */
async function checkNoHost(query: PostgresQuery, path: string): Promise<void> {
  await query('LOCK TABLE sluice_hosts IN EXCLUSIVE MODE'); // as each write of a host does first
  const living = await query(
    'SELECT 1 FROM sluice_hosts WHERE lease_until > clock_timestamp() LIMIT 1',
  );
  if (living.length > 0) throw journalError('journal-in-use', { path });
  await query('DELETE FROM sluice_hosts'); // one that slept all the time has no partition any more
}

async function versionOf(query: PostgresQuery): Promise<number> {
  const [row] = await query(`SELECT to_regclass('sluice_journal') IS NOT NULL AS is_there`);
  if (row?.['is_there'] !== true) return 0;
  const [persisted] = await query('SELECT version FROM sluice_journal');
  return Number(persisted?.['version'] ?? 0);
}
