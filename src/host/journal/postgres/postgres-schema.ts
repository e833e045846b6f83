import { hostError } from '../../errors.js';
import { isNotEnded, isOpenSend, isOpenUpdate } from '../rows/journal-schema.js';
import type { PostgresConnections, PostgresQuery } from './connections.js';
import { withFailures } from './postgres-failure.js';
import { dispatchesTable, sendsTable, updatesTable } from './postgres-tables.js';

/** The version of the tables below. */
export const postgresSchemaVersion = 1;

const schema: readonly string[] = [
  `CREATE TABLE sluice_journal (
    one bool PRIMARY KEY DEFAULT true CHECK (one), version int4 NOT NULL, owner text,
    epoch int8 NOT NULL DEFAULT 0, lease_until timestamptz, touched int8 NOT NULL DEFAULT 0)`,
  `INSERT INTO sluice_journal (version) VALUES (${postgresSchemaVersion})`,
  ...[updatesTable, sendsTable, dispatchesTable].map(({ sql }) => sql),
  `CREATE INDEX sluice_updates_not_ended ON sluice_updates (seq) WHERE ${isNotEnded}`,
  `CREATE INDEX sluice_updates_of_lane ON sluice_updates (lane, seq) WHERE ${isOpenUpdate}`,
  'CREATE INDEX sluice_sends_of ON sluice_sends (correlation_id)',
  `CREATE INDEX sluice_sends_open ON sluice_sends (seq) WHERE ${isOpenSend}`,
  'CREATE INDEX sluice_dispatches_by_event ON sluice_dispatches (event_id)',
  'CREATE INDEX sluice_dispatches_by_correlation ON sluice_dispatches (correlation_id)',
  `CREATE TABLE sluice_sessions (
    session_key text PRIMARY KEY, session_id text NOT NULL, body text NOT NULL)`,
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
];

/** The work of a migration. */
export interface PostgresMigration {
  /** The version before; 0 if there were no tables. */
  readonly from: number;
  readonly to: number;
}

/**
 * Makes the tables of a journal, or brings them up to this version, in one transaction. Two of them at once wait for each other.
 *
 * @throws SluiceError (as a rejection) `not-a-journal` if the tables are of a newer version; `database-...`.
 */
export async function migratePostgres(given: PostgresConnections): Promise<PostgresMigration> {
  const connections = withFailures(given);
  return connections.transaction(async (query) => {
    await query(`SELECT pg_advisory_xact_lock(hashtext('sluice migrate'))`);
    const from = await versionOf(query);
    if (from > postgresSchemaVersion) throw newerVersion(connections.address, from);
    if (from === 0) for (const sql of schema) await query(sql);
    return { from, to: postgresSchemaVersion };
  });
}

/** @throws SluiceError (as a rejection) `not-a-journal` if the tables are not there, or of another version. */
export async function checkPostgresSchema({ query, address }: PostgresConnections): Promise<void> {
  const version = await versionOf(query);
  if (version === postgresSchemaVersion) return;
  if (version > postgresSchemaVersion) throw newerVersion(address, version);
  const problem = 'it has no tables of a journal; `sluice journal migrate` makes them';
  throw hostError('not-a-journal', { path: address, problem });
}

async function versionOf(query: PostgresQuery): Promise<number> {
  const [row] = await query(`SELECT to_regclass('sluice_journal') IS NOT NULL AS is_there`);
  if (row?.['is_there'] !== true) return 0;
  const [kept] = await query('SELECT version FROM sluice_journal');
  return Number(kept?.['version'] ?? 0);
}

function newerVersion(path: string, version: number): Error {
  const problem = `its tables have version ${version}, and this program knows version ${postgresSchemaVersion}`;
  return hostError('not-a-journal', { path, problem });
}
