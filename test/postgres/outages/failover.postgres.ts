import { expect, it } from 'vitest';
import { connect } from '../../../extensions/postgres/src/index.js';
import { openPostgresJournal } from '../../../src/postgres/index.js';
import { migratePostgres } from '../../../src/postgres/postgres-schema.js';
import { anUpdate } from '../../journal/journal-contract.js';
import { PostgresProxy } from '../../support/postgres-proxy.js';
import { PostgresServer } from '../../support/postgres-server.js';
import { followed } from './followed.js';
import { settled, withoutRenewals } from './quiet-journal.js';

const patiently = { timeout: 60_000, interval: 20 };

it('a commit that the standby has not got is not taken for that of another that has its id there (durability §11.7)', async () => {
  await using first = await PostgresServer.start();
  const admin = connect(first.url());
  await migratePostgres(admin);
  await using standby = await followed(first, admin);
  await using proxy = await PostgresProxy.to(first.url());
  const journal = await openPostgresJournal(connect(proxy.url(first.url())), {
    ...{ leaseMs: 60_000, clock: withoutRenewals },
  });
  await settled(journal);
  await journal.accept(anUpdate('kept'));
  await standby.server.halt('SIGQUIT');
  const taken = journal.accept(anUpdate('lost')).catch(({ code }) => code);
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
  await expect.poll(async () => (await admin.query(waiting)).length, patiently).toBeGreaterThan(0);
  proxy.close();
  await first.halt('SIGQUIT');
  await standby.server.run();
  await standby.promote();
  const other = connect(standby.server.url());
  for (let at = 0; at < 50; at++) await other.query('SELECT pg_current_xact_id()');
  proxy.lead(standby.server.url());
  proxy.open();
  expect(await taken).toBe('database-io');
  expect((await journal.updates()).map(({ eventId }) => eventId)).toEqual(['kept']);
  await journal.accept(anUpdate('later'));
  await journal.close();
  await other.close();
  await admin.close();
});
