import type { JournalMigration } from '@sluice/journal/internal';
import {
  isNotEnded,
  isOpenSend,
  isOpenUpdate,
  journalError,
  slotCount,
} from '@sluice/journal/internal';
import { systemClock } from 'sluice-kernel';
import { dispatchesByDay, divideDispatches } from './postgres-days.js';
import { withFailures } from './postgres-failure.js';
import type { PostgresConnections, PostgresQuery } from './rows/connections.js';
import { dispatchesTable, sendsTable, updatesTable } from './rows/postgres-tables.js';

/** The version of the tables below. */
export const postgresSchemaVersion = 4;

/**
 * The part of the schema that tables of version 1 do not have: the transactions of updates, and the hosts that live, and the
 * partitions that they have. A host's partitions are free when its row is gone. An epoch is a number that comes once.
 */
const sinceVersion1: readonly string[] = [
  'ALTER TABLE sluice_updates ADD COLUMN xid xid8 DEFAULT pg_current_xact_id()',
  `CREATE INDEX sluice_updates_by_xid ON sluice_updates (xid) WHERE state = 'accepted'`,
  `CREATE TABLE sluice_hosts (
    host_id text PRIMARY KEY, lease_until timestamptz NOT NULL, is_taking bool NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp(), about text NOT NULL)`,
  `CREATE TABLE sluice_parts (
    part int4 PRIMARY KEY, host_id text NOT NULL REFERENCES sluice_hosts ON DELETE CASCADE, epoch int8 NOT NULL)`,
  'CREATE INDEX sluice_parts_of_host ON sluice_parts (host_id)',
  'CREATE SEQUENCE sluice_epochs',
];

/** A host of version 3 that slept while the tables were brought up does not name it, and so joins no more. */
const sinceVersion3 = 'ALTER TABLE sluice_hosts ADD COLUMN version int4 NOT NULL';

/** The steps that bring tables of version 1 up to version 2. */
const fromVersion1: readonly string[] = [
  `ALTER TABLE sluice_journal DROP COLUMN owner, DROP COLUMN epoch, DROP COLUMN lease_until,
    ADD COLUMN partitions int4 NOT NULL DEFAULT 1`,
  'ALTER TABLE sluice_updates ADD COLUMN part int4',
  'ALTER TABLE sluice_sends ADD COLUMN part int4',
  ...sinceVersion1,
];

/** The slot of a key, as an expression: what `slotOf` returns. */
const slotOfKey = (key: string): string =>
  `('x' || left(encode(sha256(convert_to(to_json(${key})::text, 'UTF8')), 'hex'), 8))::bit(32)::int8 & ${slotCount - 1}`;

/**
 * The steps that bring tables of version 3 up to version 4. Of a row that has not ended they know the partition alone: its slot is one
 * beyond the others, in the same partition as before.
 */
const fromVersion3: readonly string[] = [
  'ALTER TABLE sluice_updates RENAME COLUMN part TO slot',
  'ALTER TABLE sluice_sends RENAME COLUMN part TO slot',
  `UPDATE sluice_updates SET slot = coalesce(slot, 0) + ${slotCount} WHERE ${isNotEnded}`,
  `UPDATE sluice_sends SET slot = coalesce(slot, 0) + ${slotCount} WHERE ${isOpenSend}`,
  'ALTER TABLE sluice_sessions ADD COLUMN slot int4',
  `UPDATE sluice_sessions SET slot = ${slotOfKey('session_key')}`,
  'ALTER TABLE sluice_sessions ALTER COLUMN slot SET NOT NULL',
  sinceVersion3,
];

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
  ...sinceVersion1,
  sinceVersion3,
];

/**
 * Makes the tables of a journal, or brings them up to this version, in one transaction. Two of them at once wait for each other.
 *
 * @throws SluiceError (as a rejection) `not-a-journal` if the tables are of a newer version; `journal-in-use` if a host of an older
 *   one is running; `database-...`.
 */
export async function migratePostgres(
  given: PostgresConnections,
  partitions?: number,
): Promise<JournalMigration> {
  const connections = withFailures(given);
  return connections.transaction(async (query) => {
    await query(`SELECT pg_advisory_xact_lock(hashtext('sluice migrate'))`);
    const from = await versionOf(query);
    if (from > postgresSchemaVersion) throw newerVersion(connections.address, from);
    if (from === 1) await checkUnused(query, connections.address);
    if (from === 2 || from === 3) await checkNoHost(query, connections.address);
    if (from > 0 && from < 4) await checkSlots(query, from, connections.address);
    for (const sql of await stepsFrom(from, query)) await query(sql);
    await query('UPDATE sluice_journal SET version = $1', [postgresSchemaVersion]);
    if (partitions !== undefined) await divide(query, partitions, connections.address);
    return { from, to: postgresSchemaVersion };
  });
}

async function stepsFrom(version: number, query: PostgresQuery): Promise<readonly string[]> {
  if (version === postgresSchemaVersion) return [];
  const nowMs = systemClock.now();
  if (version === 0) return schema(nowMs);
  if (version === 3) return fromVersion3;
  const [row] = await query(`SELECT max(occurred_at_ms) AS newest FROM ${dispatchesTable.name}`);
  const divided = divideDispatches(nowMs, Number(row?.['newest'] ?? 0));
  return [...(version === 1 ? fromVersion1 : []), ...divided, ...fromVersion3];
}

/** @throws SluiceError (as a rejection) `not-a-journal` if the tables are not there, or of another version. */
export async function checkPostgresSchema({ query, address }: PostgresConnections): Promise<void> {
  const version = await versionOf(query);
  if (version === postgresSchemaVersion) return;
  if (version > postgresSchemaVersion) throw newerVersion(address, version);
  const tables =
    version === 0
      ? 'no tables of a journal; `sluice journal migrate` makes them'
      : `tables of version ${version}; \`sluice journal migrate\` brings them up to version ${postgresSchemaVersion}`;
  const problem = `it has ${tables}`;
  throw journalError('not-a-journal', { path: address, problem });
}

/** Divides the slots into so many partitions. Rows keep their slots. Of a row of an older version the slot is not known. */
async function divide(query: PostgresQuery, partitions: number, path: string): Promise<void> {
  const [now] = await query('SELECT partitions FROM sluice_journal');
  if (now?.['partitions'] === partitions) return;
  await checkNoHost(query, path);
  await checkNoneOpen(query, `slot >= ${slotCount}`, path);
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

/** Before there were slots, a number of partitions that divides no number of slots had other partitions for the same keys. */
async function checkSlots(query: PostgresQuery, from: number, path: string): Promise<void> {
  const [row] = from === 1 ? [] : await query('SELECT partitions FROM sluice_journal');
  if (slotCount % Number(row?.['partitions'] ?? 1) !== 0) await checkNoneOpen(query, 'true', path);
}

/** @throws SluiceError (as a rejection) `not-a-journal` if such a message or send has not ended. */
async function checkNoneOpen(query: PostgresQuery, which: string, path: string): Promise<void> {
  const open = await query(
    `SELECT 1 FROM sluice_updates WHERE ${isNotEnded} AND ${which}
      UNION ALL SELECT 1 FROM sluice_sends WHERE ${isOpenSend} AND ${which} LIMIT 1`,
  );
  if (open.length === 0) return;
  const problem =
    'an older version has taken messages in that have not ended; a host with its number of partitions brings them to their end first, and `sluice journal retry` or `purge` the dead letters';
  throw journalError('not-a-journal', { path, problem });
}

/** A host of version 1 would not know the new tables. None can begin until the migration has ended. */
async function checkUnused(query: PostgresQuery, path: string): Promise<void> {
  const [persisted] = await query(
    `SELECT owner IS NOT NULL AND lease_until > clock_timestamp() AS is_used FROM sluice_journal FOR UPDATE`,
  );
  if (persisted?.['is_used'] === true) throw journalError('journal-in-use', { path });
}

async function versionOf(query: PostgresQuery): Promise<number> {
  const [row] = await query(`SELECT to_regclass('sluice_journal') IS NOT NULL AS is_there`);
  if (row?.['is_there'] !== true) return 0;
  const [persisted] = await query('SELECT version FROM sluice_journal');
  return Number(persisted?.['version'] ?? 0);
}

function newerVersion(path: string, version: number): Error {
  const problem = `its tables have version ${version}, and this program knows version ${postgresSchemaVersion}`;
  return journalError('not-a-journal', { path, problem });
}
