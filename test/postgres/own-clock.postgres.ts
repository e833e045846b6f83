import { describe, expect, it } from 'vitest';
import { connect } from '../../extensions/postgres/src/index.js';
import { deferred } from '../../src/kernel/internal.js';
import { openPostgresJournal, type PostgresConnections } from '../../src/postgres/index.js';
import { migratePostgres } from '../../src/postgres/postgres-schema.js';
import { virtualClock } from '../../src/testing/index.js';
import { anUpdate, aSend } from '../journal/journal-contract.js';
import { endLeases, newDatabase } from './databases.js';

const leaseMs = 5_000;
const patiently = { timeout: 60_000, interval: 10 };

/** A host whose transactions get no answer while it is cut off, by a clock of its own. */
async function cutOffHost(partitions?: number) {
  const url = await newDatabase();
  const inner = connect(url);
  if (partitions !== undefined) await migratePostgres(inner, partitions);
  let answers = deferred<void>();
  answers.resolve();
  let begun = 0;
  /** Renewals whose answers are lost. */
  let lost = 0;
  const connections: PostgresConnections = {
    ...inner,
    query: (sql, values) =>
      lost > 0 && sql.includes('pg_xact_status')
        ? Promise.reject(new Error('the connection is gone'))
        : inner.query(sql, values),
    transaction: async (work) => {
      const { promise } = answers;
      begun++;
      const made = await inner.transaction(work);
      await promise;
      if (lost > 0 && lost-- > 0) throw new Error('the connection is gone');
      return made;
    },
  };
  const clock = virtualClock();
  const journal = await openPostgresJournal(connections, { leaseMs, clock, listen: false });
  await expect.poll(() => journal.stats().commits, patiently).toBe(4); // old rows are looked for first
  return {
    ...{ url, clock, journal },
    begun: () => begun,
    loseAnswers: (many: number) => {
      lost = many;
    },
    /** @returns has the transactions that have begun since answered. */
    cutOff: () => {
      const since = deferred<void>();
      answers = since;
      return () => since.resolve();
    },
    /** Resolves when its renewals are persisted again. */
    goOn: async () => {
      answers.resolve();
      await expect
        .poll(async () => {
          await clock.advance(100);
          return journal.problem();
        }, patiently)
        .toBeUndefined();
    },
    stall: async () => {
      answers = deferred<void>();
      await clock.advance(leaseMs);
      await expect.poll(() => journal.ownership.partitions(), patiently).toEqual([]);
    },
  };
}

describe('a host that cannot renew its lease', () => {
  it.each([1, 4])(
    'ends its holds by its own clock, counted from before its last renewal was sent (durability §11.4, %i partitions)',
    async (partitions) => {
      const { journal, clock, begun, cutOff, goOn } = await cutOffHost(partitions);
      const fence = journal.ownership.fenceOf(0);
      if (fence === undefined) throw new Error('it has no partition');
      const answer = cutOff();
      const before = begun();
      await clock.advance(1_000);
      await expect.poll(begun, patiently).toBe(before + 1); // a renewal is sent
      await clock.advance(leaseMs - 1_001);
      cutOff();
      const { commits } = journal.stats();
      answer(); // it comes at the last moment, and the next does not
      await expect.poll(() => journal.stats().commits, patiently).toBe(commits + 1);
      await clock.advance(1_000);
      await new Promise(setImmediate);
      expect(fence.signal.aborted).toBe(false);
      await clock.advance(1);
      await expect.poll(() => fence.signal.aborted, patiently).toBe(true);
      expect(fence.signal.reason).toMatchObject({ code: 'journal-lost' });
      expect(journal.problem()).toMatchObject({ code: 'database-io' });
      expect(journal.lost?.aborted).toBe(false);
      await goOn();
      await journal.close();
    },
  );

  it('has its partitions again in the same epoch if no other host has taken them, and hears of their work (durability §11.4)', async () => {
    const { journal, stall, goOn } = await cutOffHost(4);
    const { ownership } = journal;
    const before = ownership.fenceOf(2);
    let heard = 0;
    ownership.onWork(() => heard++);
    heard = 0; // it was told at once that there may have been work before
    await stall();
    expect([ownership.fenceOf(2), ownership.epochOf(2)]).toEqual([undefined, before?.epoch]);
    await goOn();
    await expect.poll(() => ownership.partitions().length, patiently).toBe(4);
    expect(heard).toBeGreaterThan(0);
    const after = ownership.fenceOf(2);
    expect(after?.epoch).toBe(before?.epoch);
    expect([before?.signal.aborted, after?.signal.aborted]).toEqual([true, false]);
    await journal.close();
  });

  it('writes nothing by a fence that has ended so, also if it has the partition again (durability §12.3)', async () => {
    const { journal, stall, goOn } = await cutOffHost();
    await journal.accept(anUpdate('a'));
    const { fence } = await journal.begin('a');
    await stall();
    await goOn();
    for (const write of [
      () => journal.prepare(fence, aSend('s')),
      () => journal.endUpdate(fence, { isDead: false, outcome: 'answered' }),
    ])
      await expect(write()).rejects.toMatchObject({ code: 'journal-lost' });
    expect(await journal.sends()).toEqual([]);
    await journal.close();
  });

  it('does not count the beginnings of updates that it has broken off so, ten times at most (durability §7.8)', async () => {
    const { journal, stall, goOn } = await cutOffHost();
    await journal.accept(anUpdate('a'));
    const attempts: number[] = [];
    for (let at = 0; at < 12; at++) {
      attempts.push((await journal.begin('a')).attempts);
      await stall();
      await goOn();
    }
    expect(attempts).toEqual([...Array(11).fill(1), 2]);
    await journal.close();
  });

  it('gives an attempt back once, also if the renewal that did so had no answer (durability §7.8)', async () => {
    const { journal, stall, goOn, loseAnswers } = await cutOffHost();
    await journal.accept(anUpdate('a'));
    for (const attempts of [1, 2, 3]) expect((await journal.begin('a')).attempts).toBe(attempts);
    await stall();
    loseAnswers(2);
    await goOn();
    expect(await journal.updates()).toMatchObject([{ attempts: 2 }]);
    await journal.close();
  });

  it('stops if another host has taken its journal over meanwhile (durability §11.3)', async () => {
    const { url, journal, stall, goOn } = await cutOffHost(1);
    await stall();
    await endLeases(url);
    const second = await openPostgresJournal(connect(url), { leaseMs: 60_000 });
    expect(journal.lost?.aborted).toBe(false);
    const over = goOn().catch(() => undefined);
    await expect.poll(() => journal.lost?.aborted, patiently).toBe(true);
    expect(journal.problem()).toMatchObject({ code: 'journal-lost' });
    void over;
    await journal.close();
    await second.close();
  });
});
