import { randomUUID } from 'node:crypto';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { connect } from '../../extensions/postgres/src/index.js';
import { root } from '../cli/cli.js';
import { testFolder } from '../support/folder.js';

/** Makes a database with the tables of a journal, or one without tables. @returns its address. */
export async function newDatabase(template = 'journal_template'): Promise<string> {
  const url = inject('postgresUrl');
  const name = `t_${randomUUID().replaceAll('-', '')}`;
  const admin = connect(url);
  await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  await admin.close();
  return (inject('pooledUrl') ?? url).replace('/postgres?', `/${name}?`);
}

/** Ends the leases of all hosts, as if their time were over. */
export async function endLeases(url: string): Promise<void> {
  const beside = connect(url);
  await beside.query('UPDATE sluice_hosts SET lease_until = now()');
  await beside.close();
}

/** The same database without a pooler before it. */
export function directUrl(url: string): string {
  return inject('postgresUrl').replace('/postgres?', `${new URL(url).pathname}?`);
}

/** Makes a folder in which the package of PostgreSQL is installed. */
export function projectFolder(): string {
  const folder = testFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(join(root, 'extensions/postgres'), join(folder, 'node_modules/sluice-postgres'));
  return folder;
}

/** The statements that take the slots away again, as in version 3. */
export const beforeSlots: readonly string[] = [
  'ALTER TABLE sluice_updates RENAME COLUMN slot TO part',
  'ALTER TABLE sluice_sends RENAME COLUMN slot TO part',
  'ALTER TABLE sluice_sessions DROP COLUMN slot',
  'ALTER TABLE sluice_hosts DROP COLUMN version',
  'UPDATE sluice_journal SET version = 3',
];

/** The statements that make the dispatches of an empty journal one table again, as in version 2. */
export const undivided: readonly string[] = [
  ...beforeSlots,
  'DROP TABLE sluice_dispatches',
  'DROP SEQUENCE sluice_dispatch_numbers',
  `CREATE TABLE sluice_dispatches (seq int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, event_id text NOT NULL,
    family text NOT NULL, correlation_id text NOT NULL, session_id text, status text NOT NULL,
    occurred_at_ms float8 NOT NULL, omitted text, body text NOT NULL)`,
  'CREATE INDEX sluice_dispatches_by_event ON sluice_dispatches (event_id)',
  'CREATE INDEX sluice_dispatches_by_correlation ON sluice_dispatches (correlation_id)',
  'UPDATE sluice_journal SET version = 2',
];
