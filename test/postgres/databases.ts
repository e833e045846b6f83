import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { connect } from '../../extensions/postgres/src/index.js';

/** Makes a database with the tables of a journal, or one without tables. @returns its address. */
export async function newDatabase(template = 'journal_template'): Promise<string> {
  const url = inject('postgresUrl');
  const name = `t_${randomUUID().replaceAll('-', '')}`;
  const admin = connect(url);
  await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  await admin.close();
  return url.replace('/postgres?', `/${name}?`);
}
