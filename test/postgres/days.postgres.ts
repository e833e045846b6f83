import { describe, expect, it } from 'vitest';
import { connect } from '../../extensions/postgres/src/index.js';
import { deferred } from '../../src/kernel/internal.js';
import {
  openPostgresJournal,
  type PostgresConnections,
  type PostgresJournal,
} from '../../src/postgres/index.js';
import { virtualClock } from '../../src/testing/index.js';
import { aDispatch } from '../journal/journal-contract.js';
import { newDatabase } from './databases.js';

const patiently = { timeout: 60_000, interval: 10 };
const dayMs = 86_400_000;
const sweepEveryMs = 600_000;

/** Noon of a day that the tables made by the migration do not cover. */
const startMs = Date.UTC(2041, 5, 1, 12);

/** Opens a journal on a virtual clock, and adds dispatches at its times. */
async function opened(url: string, keepForMs?: number) {
  const inner = connect(url);
  const statements: string[] = [];
  const noted = (sql: string) => void statements.push(sql);
  const connections: PostgresConnections = {
    ...inner,
    query: (sql, values) => {
      noted(sql);
      return inner.query(sql, values);
    },
    transaction: (work) =>
      inner.transaction((query) =>
        work((sql, values) => {
          noted(sql);
          return query(sql, values);
        }),
      ),
  };
  const clock = virtualClock(startMs);
  const journal = await openPostgresJournal(connections, {
    clock,
    ...(keepForMs !== undefined && { keepForMs }),
  });
  const add = async (eventId: string, occurredAtMs = clock.now()) => {
    journal.dispatched(aDispatch(eventId, { occurredAtMs }));
    await journal.dispatches();
  };
  const tables = async () => {
    const rows = await inner.query(
      `SELECT relname::text AS name FROM pg_inherits JOIN pg_class ON oid = inhrelid
        WHERE inhparent = 'sluice_dispatches'::regclass AND relname !~ 'until' ORDER BY 1`,
    );
    return rows.map(({ name }) => String(name).replace('sluice_dispatches_', ''));
  };
  const sweeps = () => statements.filter((sql) => sql.includes('DELETE FROM sluice_dispatches'));
  const swept = async (before: number) => {
    await expect.poll(() => sweeps().length, patiently).toBeGreaterThan(before); // its last statement
    await journal.dispatches();
  };
  await swept(0);
  const pass = async (ms: number) => {
    for (const oneMs of [ms, sweepEveryMs]) {
      const before = sweeps().length;
      await clock.advance(oneMs); // a sweep begins on the way, and one at the end
      await swept(before);
    }
  };
  return { journal, add, tables, statements, pass };
}

const eventsOf = async (journal: Pick<PostgresJournal, 'dispatches'>) =>
  (await journal.dispatches()).map(({ eventId }) => eventId);

describe('the dispatches of a journal in PostgreSQL', () => {
  it('of each day are a table, which is there before the day begins (durability §11.9)', async () => {
    const { journal, add, tables, pass } = await opened(await newDatabase());
    expect(await tables()).toEqual(['2041_06_01', '2041_06_02', 'other']);
    await add('a');
    await pass(dayMs);
    expect(await tables()).toEqual(['2041_06_01', '2041_06_02', '2041_06_03', 'other']);
    await add('b');
    await add('of yesterday', startMs);
    await add('of a clock that is wrong', startMs + 400 * dayMs);
    expect(await eventsOf(journal)).toEqual([
      ...['a', 'b', 'of yesterday', 'of a clock that is wrong'], // in the order in which they were persisted
    ]);
    await journal.close();
  });

  it('go by days when the last of a day is older than keepForMs, without a look at a row (durability §11.9)', async () => {
    const { journal, add, tables, statements, pass } = await opened(await newDatabase(), 2 * dayMs);
    for (let day = 0; day < 4; day++) {
      await add(`day ${day}`);
      await pass(dayMs);
    }
    await expect
      .poll(tables, patiently)
      .toEqual([...['2041_06_03', '2041_06_04', '2041_06_05', '2041_06_06', 'other']]);
    expect(await eventsOf(journal)).toEqual(['day 2', 'day 3']);
    expect(statements.filter((sql) => sql.includes('DELETE FROM sluice_dispatches AS'))).toEqual(
      [],
    );
    await journal.close();
  });

  it('of no day that has a table go a few at a time (durability §11.9)', async () => {
    const url = await newDatabase();
    const { journal, add, pass } = await opened(url);
    const admin = connect(url);
    await add('of a clock that is wrong', startMs - 3 * dayMs);
    const others = () => admin.query('SELECT event_id FROM sluice_dispatches_other');
    expect(await others()).toHaveLength(1);
    await pass(4 * dayMs);
    expect(await others()).toEqual([]);
    await admin.close();
    await journal.close();
  });

  it('of a day that has no table stand apart, and the next day has its table (durability §11.9)', async () => {
    const { journal, add, tables, pass } = await opened(await newDatabase());
    await add('of a clock that is wrong', startMs + 5 * dayMs);
    await pass(5 * dayMs);
    await add('of that day');
    expect(await tables()).toEqual(['2041_06_01', '2041_06_02', '2041_06_07', 'other']);
    expect(await eventsOf(journal)).toEqual(['of a clock that is wrong', 'of that day']);
    await journal.close();
  });

  it('go a few at a time if somebody reads them for long, and if they are persisted for less than a day (durability §11.9)', async () => {
    const url = await newDatabase();
    const { journal, add, pass, tables } = await opened(url);
    await add('a');
    const reader = connect(url);
    const read = deferred<void>();
    const isRead = deferred<void>();
    const reading = reader.transaction(async (query) => {
      await query('SELECT * FROM sluice_dispatches');
      isRead.resolve();
      await read.promise;
    });
    await isRead.promise;
    await pass(9 * dayMs);
    expect(await eventsOf(journal)).toEqual([]);
    expect(await tables()).toContain('2041_06_01');
    read.resolve();
    await reading;
    await pass(sweepEveryMs);
    expect(await tables()).not.toContain('2041_06_01');
    await journal.close();

    const short = await opened(await newDatabase(), 3_600_000);
    await short.add('a');
    await short.pass(3 * sweepEveryMs);
    await short.add('b');
    await short.pass(3 * sweepEveryMs);
    expect(await eventsOf(short.journal)).toEqual(['b']);
    await short.journal.close();
    await reader.close();
  });
});
