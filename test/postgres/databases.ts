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
