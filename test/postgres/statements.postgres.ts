import { describe, expect, inject, it } from 'vitest';
import { connect } from '../../extensions/postgres/src/index.js';
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
});
