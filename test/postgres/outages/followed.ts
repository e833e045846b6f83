import { expect } from 'vitest';
import { connect } from '../../../extensions/postgres/src/index.js';
import type { PostgresConnections } from '../../../src/postgres/index.js';
import type { PostgresServer } from '../../support/postgres-server.js';

const patiently = { timeout: 60_000, interval: 20 };

/** A standby that a commit waits for. */
export interface Followed extends AsyncDisposable {
  readonly server: PostgresServer;
  /** Makes it the server that takes writes. */
  promote(): Promise<void>;
}

/** Has a server followed by a synchronous standby. */
export async function followed(
  first: PostgresServer,
  admin: PostgresConnections,
): Promise<Followed> {
  const server = await first.standby();
  await admin.query(`ALTER SYSTEM SET synchronous_standby_names = 'standby'`);
  await admin.query('SELECT pg_reload_conf()');
  const inStep = `SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`;
  await expect.poll(async () => (await admin.query(inStep)).length, patiently).toBe(1);
  return {
    server,
    promote: async () => {
      const connections = connect(server.url());
      // its own standby is gone, and it waits for none
      await connections.query('SELECT pg_promote()');
      await connections.close();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
