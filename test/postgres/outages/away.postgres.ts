import { describe, expect, it } from 'vitest';
import { connect } from '../../../extensions/postgres/src/index.js';
import { startHealthServer } from '../../../src/host/index.js';
import { deferred } from '../../../src/kernel/internal.js';
import { openPostgresJournal, type PostgresConnections } from '../../../src/postgres/index.js';
import { migratePostgres } from '../../../src/postgres/postgres-schema.js';
import { anUpdate } from '../../journal/journal-contract.js';
import { hostLab } from '../../support/host-lab.js';
import { PostgresServer } from '../../support/postgres-server.js';

const patiently = { timeout: 60_000, interval: 50 };
const leaseMs = 5_000; // longer than a pause of the machine
const awayMs = Number(process.env['FAULTS_LONG'] ?? 2_000);
const pass = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** What becomes of a database. @returns what ends it. */
type Outage = (
  server: PostgresServer,
  admin: PostgresConnections,
) => Promise<() => Promise<unknown>>;

const tables = ['updates', 'sends', 'dispatches', 'key_values', 'transcripts', 'sessions'];

/** Refuses rows as a server does whose disk is full: a disk of a size of its own takes the rights of root. */
async function fill(admin: PostgresConnections): Promise<() => Promise<unknown>> {
  await admin.query(`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`);
  for (const table of tables)
    await admin.query(`CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON sluice_${table}
      FOR EACH STATEMENT EXECUTE FUNCTION full_disk()`);
  return () => admin.query('DROP FUNCTION full_disk CASCADE');
}

/** Ends the connections of the host, and takes all that the server has. */
async function takeAll(
  server: PostgresServer,
  admin: PostgresConnections,
): Promise<() => Promise<unknown>> {
  const ends: (() => Promise<void>)[] = [];
  const others = `FROM pg_stat_activity WHERE backend_type = 'client backend'
    AND query <> 'SELECT ''kept''' AND pid <> pg_backend_pid()`;
  for (let isFull = false; !isFull; ) {
    await admin.query(`SELECT pg_terminate_backend(pid) ${others}`);
    const other = connect(server.url());
    const free = deferred<void>();
    const isHeld = deferred<boolean>();
    const kept = other
      .transaction(async (query) => {
        await query(`SELECT 'kept'`);
        isHeld.resolve(true);
        await free.promise;
      })
      .catch(() => isHeld.resolve(false));
    // the host may have been faster, and have the last one
    isFull = !(await isHeld.promise) && (await admin.query(`SELECT pid ${others}`)).length === 0;
    ends.push(async () => {
      free.resolve();
      await kept;
      await other.close();
    });
  }
  return () => Promise.all(ends.map((end) => end()));
}

const outages: Readonly<Record<string, readonly [code: string, outage: Outage]>> = {
  [`is ${awayMs} ms away`]: [
    'database-io',
    async (server) => {
      await server.halt();
      return async () => {
        await pass(awayMs);
        await server.run();
      };
    },
  ],
  'has no disk left': ['database-full', (_, admin) => fill(admin)],
  'has no connection left': ['database-io', takeAll],
};

describe.each(Object.entries(outages))('a host whose database %s', (_, [code, outage]) => {
  it('acknowledges nothing, sends nothing and is not ready, and goes on when that is over (durability §11.6)', async () => {
    await using server = await PostgresServer.start(['-c', 'max_connections=12']);
    const admin = connect(server.url());
    await migratePostgres(admin);
    const journal = await openPostgresJournal(connect(server.url()), { leaseMs });
    await using lab = await hostLab({ journal, store: journal.store });
    await using health = await startHealthServer(lab.host, { port: 0 });
    const ready = async () => {
      await lab.clock.advance(1_000);
      return (await fetch(`${health.url}/readyz`)).status;
    };
    const ids = () => lab.channel.acknowledged.map(({ updateId }) => updateId);
    await lab.say('before');
    expect(await ready()).toBe(200);
    const end = await outage(server, admin);
    expect(await lab.channel.receive({ text: 'meanwhile' }, 'm')).toBe('refused');
    await expect(journal.accept(anUpdate('n'))).rejects.toMatchObject({ code });
    await expect.poll(ready, patiently).toBe(503);
    for (let at = 0; at < 15; at++) {
      await pass(100); // some renewals of the lease
      expect(await ready()).toBe(503);
    }
    expect(lab.texts()).toEqual(['before']);
    expect(ids()).toEqual(['u-1']);
    await end();
    await expect.poll(ready, patiently).toBe(200);
    await lab.channel.receive({ text: 'meanwhile' }, 'm');
    await expect.poll(lab.texts, patiently).toEqual(['before', 'meanwhile']);
    expect(ids()).toEqual(['u-1', 'm']);
    await admin.close();
  });
});

describe('a database without disk', () => {
  it('is not asked for each write of many (durability §11.5)', async () => {
    await using server = await PostgresServer.start();
    const admin = connect(server.url());
    await migratePostgres(admin);
    const inner = connect(server.url());
    let transactions = 0;
    const connections: PostgresConnections = {
      ...inner,
      transaction: (work) => {
        transactions++;
        return inner.transaction(work);
      },
    };
    const journal = await openPostgresJournal(connections, { leaseMs: 60_000 });
    await fill(admin);
    const before = transactions;
    const updates = Array.from({ length: 200 }, (_, at) => anUpdate(`u-${at}`));
    const taken = await Promise.allSettled(updates.map((update) => journal.accept(update)));
    expect(taken.filter(({ status }) => status === 'rejected')).toHaveLength(200);
    expect(transactions - before).toBeLessThanOrEqual(4);
    await journal.close();
    await admin.close();
  });
});
