import type { TestProject } from 'vitest/node';
import { connect } from '../../extensions/postgres/src/index.js';
import { migratePostgres } from '../../src/postgres/postgres-schema.js';
import { installPgBouncer, PgBouncer } from '../support/pgbouncer.js';
import { installPostgres, PostgresServer } from '../support/postgres-server.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of a server, whose database `journal_template` has the tables of a journal. */
    postgresUrl: string;
    /** The address of a PgBouncer before it, where the suite goes through one. */
    pooledUrl: string | undefined;
  }
}

/** Starts a server for all files, and makes the tables once. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  installPostgres();
  const server = await PostgresServer.start();
  const admin = connect(server.url());
  await admin.query('CREATE DATABASE journal_template');
  await admin.close();
  const template = connect(server.url('journal_template'));
  await migratePostgres(template);
  await template.close();
  project.provide('postgresUrl', server.url());
  const isPooled = project.name === 'pgbouncer';
  if (isPooled) installPgBouncer();
  const pool = isPooled ? await PgBouncer.before(server) : undefined;
  project.provide('pooledUrl', pool?.url());
  return async () => {
    await pool?.[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  };
}
