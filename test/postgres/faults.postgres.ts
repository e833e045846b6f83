import { describe, expect, it } from 'vitest';
import { connect } from '../../extensions/postgres/src/index.js';
import { deferred } from '../../src/kernel/internal.js';
import { openPostgresJournal, type PostgresConnections } from '../../src/postgres/index.js';
import { virtualClock } from '../../src/testing/index.js';
import { anUpdate, aSend } from '../journal/journal-contract.js';
import { endLeases, newDatabase } from './databases.js';

const patiently = { timeout: 60_000, interval: 10 };

/** Connections that list the statements of each transaction. */
function listed(url: string) {
  const inner = connect(url);
  const transactions: string[][] = [];
  const connections: PostgresConnections = {
    ...inner,
    transaction: (work) => {
      const statements: string[] = [];
      transactions.push(statements);
      return inner.transaction((query) =>
        work((sql, values) => {
          statements.push(sql);
          return query(sql, values);
        }),
      );
    },
  };
  return { connections, transactions };
}

describe('a host that stops in the middle of a transaction', () => {
  it('keeps nobody from taking its journal over, and has written nothing (durability §11.3)', async () => {
    const url = await newDatabase();
    const inner = connect(url);
    let isStopped = false;
    const first = await openPostgresJournal(
      {
        ...inner,
        transaction: (work) =>
          inner.transaction(async (query) => {
            const made = await work(query);
            if (isStopped) await new Promise(() => undefined); // as a process that gets no time
            return made;
          }),
      },
      { leaseMs: 2_000, clock: virtualClock() },
    );
    isStopped = true;
    void first.accept(anUpdate('a')).catch(() => undefined);
    const second = await openPostgresJournal(connect(url));
    expect(await second.updates()).toEqual([]);
    await second.accept(anUpdate('b'));
    await second.close();
  });
});

describe('a commit whose answer comes late', () => {
  it('gives no right to go on, if another host has taken the journal over meanwhile (durability §11.4)', async () => {
    const url = await newDatabase();
    const inner = connect(url);
    const [committed, answer] = [deferred<void>(), deferred<void>()];
    let isWaiting = false;
    const clock = virtualClock();
    const connections: PostgresConnections = {
      ...inner,
      transaction: async (work) => {
        const made = await inner.transaction(work);
        if (!isWaiting) return made;
        committed.resolve();
        await answer.promise;
        return made;
      },
    };
    const first = await openPostgresJournal(connections, { leaseMs: 60_000, clock });
    const kept = first.ownership.fenceOf(0);
    if (kept === undefined) throw new Error('it has no partition');
    await expect.poll(() => first.stats().commits, { timeout: 60_000 }).toBe(4); // old rows are looked for first
    isWaiting = true;
    const prepared = first.prepare(kept, aSend('s'), true).catch(({ code }) => code);
    await committed.promise;
    await endLeases(url);
    const second = await openPostgresJournal(connect(url));
    await clock.advance(60_000);
    answer.resolve();
    expect(await prepared).toBe('journal-lost');
    expect(kept.signal.aborted).toBe(true);
    expect(await second.sends()).toMatchObject([{ sendId: 's', state: 'sending' }]);
    await first.close();
    await second.close();
  });
});

describe('the connection that writes', () => {
  it('is there while all others read (durability §11.4)', async () => {
    const url = await newDatabase();
    const holder = connect(url);
    let release = (): void => undefined;
    const held = holder.transaction(async (query) => {
      await query('SELECT pg_advisory_xact_lock(1)');
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    });
    await expect
      .poll(
        async () =>
          (await holder.query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory'`)).length,
        patiently,
      )
      .toBe(1);
    const connections = connect(url, { maxConnections: 3 });
    const readers = Array.from({ length: 9 }, () =>
      connections.query('SELECT pg_advisory_xact_lock(1)').then(() => 'read'),
    );
    const written = connections.transaction((query) => query('SELECT 1')).then(() => 'written');
    expect(await Promise.race([written, ...readers])).toBe('written');
    release();
    await held;
    await Promise.all(readers);
    await connections.close();
    await holder.close();
  });
});

describe('many writes in PostgreSQL', () => {
  it('are tried again by halves if the database refuses one of them (durability §11.5)', async () => {
    const { connections, transactions } = listed(await newDatabase());
    const journal = await openPostgresJournal(connections, { clock: virtualClock() });
    const bad = anUpdate('bad', { channel: undefined as never });
    const updates = Array.from({ length: 500 }, (_, at) => (at === 77 ? bad : anUpdate(`u-${at}`)));
    const before = transactions.length;
    const taken = await Promise.allSettled(updates.map((update) => journal.accept(update)));
    expect(taken.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(transactions.length - before).toBeLessThanOrEqual(20);
    expect((await journal.updates()).map(({ seq }) => seq)).toHaveLength(499);
    await journal.close();
  });

  it('do not keep the renewal of the lease waiting (durability §11.2)', async () => {
    const { connections, transactions } = listed(await newDatabase());
    const clock = virtualClock();
    const journal = await openPostgresJournal(connections, { clock });
    await journal.updates();
    await expect.poll(() => transactions.length, patiently).toBeGreaterThan(0);
    const isRenewal = (statements: readonly string[] | undefined) =>
      statements?.some((sql) => sql.includes('INTO sluice_hosts')) === true;
    const before = transactions.length;
    const all = Array.from({ length: 3_000 }, (_, at) => journal.accept(anUpdate(`u-${at}`)));
    await clock.advance(1_000);
    await Promise.all(all);
    expect(transactions.slice(before, before + 2).some(isRenewal)).toBe(true);
    await journal.close();
  });

  it('are no more to look at for what is old, however many are persisted (durability §11.9)', async () => {
    const url = await newDatabase();
    const { connections, transactions } = listed(url);
    const clock = virtualClock();
    const journal = await openPostgresJournal(connections, { clock });
    const updates = Array.from({ length: 3_000 }, (_, at) => anUpdate(`u-${at}`));
    await Promise.all(updates.map((update) => journal.accept(update)));
    const isSweep = (sql: string) => sql.includes('DELETE FROM sluice_updates');
    const sweeps = () => transactions.flat().filter(isSweep);
    const sweptAgain = async () => {
      await clock.advance(600_000);
      return sweeps().length;
    };
    await expect.poll(sweptAgain, patiently).toBeGreaterThan(1);
    await connections.query('ANALYZE sluice_updates'); // as the database does by itself
    const [plan] = await connections.query(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${sweeps().at(-1)}`,
      [0, 0].slice(0, sweeps().at(-1)?.includes('$2') ? 2 : 1),
    );
    const counted =
      JSON.stringify(plan).match(/"(Actual Rows|Rows Removed by Filter)":\s*\d+/g) ?? [];
    expect(counted.length).toBeGreaterThan(0);
    for (const one of counted) expect(Number(one.split(':')[1])).toBeLessThanOrEqual(500);
    await journal.close();
  });
});
