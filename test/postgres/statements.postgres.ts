import pg from 'pg';
import { describe, expect, inject, it, vi } from 'vitest';
import { connect } from '../../extensions/postgres/src/index.js';
import { openPostgresJournal } from '../../src/postgres/index.js';
import { virtualClock } from '../../src/testing/index.js';
import { aDispatch, anUpdate } from '../journal/journal-contract.js';
import { newDatabase } from './databases.js';

/** Connections of which all readings go over one. */
async function connected() {
  const connections = connect(await newDatabase(), { maxConnections: 2 });
  const count = async (table: string): Promise<unknown> =>
    (await connections.query(`SELECT count(*) AS rows FROM ${table}`))[0]?.['rows'];
  return { ...connections, count, [Symbol.asyncDispose]: connections.close };
}

const isPooled = inject('pooledUrl') !== undefined;

describe('the statements of a connection', () => {
  it('are planned once by the server, unless a pooler stands between (durability §11.16)', async () => {
    await using connections = await connected();
    for (const value of ['one', 'two', 'three'])
      expect(await connections.query('SELECT $1::text AS said', [value])).toEqual([
        { said: value },
      ]);
    const kept = await connections.query('SELECT statement FROM pg_prepared_statements');
    const own = kept.filter(({ statement }) => String(statement).includes('AS said'));
    expect(own).toHaveLength(isPooled ? 0 : 1);
  });

  it('that differ each time are kept by the server in a bounded number (durability §11.16)', async () => {
    await using connections = await connected();
    for (let at = 0; at < 250; at++)
      expect(await connections.query(`SELECT ${at} AS at`)).toEqual([{ at }]);
    const [kept] = await connections.query('SELECT count(*) AS rows FROM pg_prepared_statements');
    expect(kept).toEqual({ rows: isPooled ? 0 : 200 });
  });

  it('in a transaction run in their order, without waiting for each other (durability §11.5)', async () => {
    await using connections = await connected();
    await connections.transaction(async (query) => {
      const made = query('CREATE TABLE numbers (number int4)');
      const added = query('INSERT INTO numbers SELECT generate_series(1, $1::int4)', [5]);
      const sum = query('SELECT sum(number) AS sum FROM numbers');
      expect(await sum).toEqual([{ sum: 15 }]);
      await Promise.all([made, added]);
    });
    expect(await connections.count('numbers')).toBe(5);
  });

  it('do not go on without a transaction if its beginning was refused (durability §11.5)', async () => {
    await using connections = await connected();
    await connections.transaction((query) => query('CREATE TABLE numbers (number int4)'));
    const { query: sent } = pg.Client.prototype;
    const spy = vi.spyOn(pg.Client.prototype, 'query');
    spy.mockImplementation(function (this: pg.Client, ...given: unknown[]) {
      const isBegin = String(given[0]).startsWith('BEGIN');
      const refused = Promise.reject(new Error('refused'));
      refused.catch(() => undefined);
      return isBegin ? refused : Reflect.apply(sent, this, given);
    });
    try {
      const refused = connections.transaction(async (query) => {
        await query('SELECT 1'); // it went along with the beginning
        await query('INSERT INTO numbers VALUES (1)');
      });
      await expect(refused).rejects.toThrow('refused');
    } finally {
      spy.mockRestore();
    }
    expect(await connections.count('numbers')).toBe(0);
  });

  it('go on when a column gets another type, after one failure (durability §11.16)', async () => {
    await using connections = await connected();
    const read = () => connections.transaction((query) => query('SELECT number FROM numbers'));
    await connections.transaction(async (query) => {
      await query('CREATE TABLE numbers (number int4)');
      await query('INSERT INTO numbers VALUES (1)');
    });
    expect(await read()).toEqual([{ number: 1 }]);
    await connections.query('ALTER TABLE numbers ALTER COLUMN number TYPE text');
    const again = async () => read().catch(({ code }: { code?: string }) => code);
    const rows = [];
    for (let at = 0; at < 3; at++) rows.push(await again());
    expect(rows).toEqual([
      ...(isPooled ? [[{ number: '1' }]] : ['0A000']), // and a batch of writes is tried again
      [{ number: '1' }],
      [{ number: '1' }],
    ]);
  });

  it('go on when a table gets another column, and when the table of a day is dropped (durability §11.9, durability §11.16)', async () => {
    const url = await newDatabase();
    const journal = await openPostgresJournal(connect(url), { leaseMs: 60_000 });
    let messages = 0;
    const handle = async (many: number): Promise<void> => {
      for (let at = 0; at < many; at++) {
        const id = `m-${++messages}`;
        await journal.accept(anUpdate(id));
        const { fence } = await journal.begin(id);
        journal.dispatched(aDispatch(id, { occurredAtMs: virtualClock().now() }));
        await journal.endUpdate(fence, { isDead: false, outcome: 'answered' });
        expect((await journal.updates({ eventId: id }))[0]?.state).toBe('ended');
      }
    };
    await handle(8); // after five times, a plan is persisted
    const beside = connect(url);
    for (const table of ['updates', 'sends', 'dispatches', 'key_values', 'sessions'])
      await beside.query(`ALTER TABLE sluice_${table} ADD COLUMN of_a_later_version text`);
    await handle(2);
    const [day] = await beside.query(
      `SELECT relname::text AS name FROM pg_inherits JOIN pg_class ON oid = inhrelid
        WHERE inhparent = 'sluice_dispatches'::regclass AND relname ~ 'until'`,
    );
    await beside.query(`DROP TABLE ${day?.['name']}`);
    await handle(2);
    expect((await journal.dispatches()).length).toBeGreaterThan(0);
    await beside.close();
    await journal.close();
  });
});
