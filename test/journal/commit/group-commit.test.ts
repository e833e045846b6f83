import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJournal, openSqlite } from '../../../src/journal/index.js';
import { fence } from '../../support/fences.js';
import { testFolder } from '../../support/folder.js';
import { aDispatch, anUpdate, settableClock } from '../journal-contract.js';

const code = (wanted: string) => expect.objectContaining({ code: wanted });
const newPath = () => join(testFolder(), 'sluice.db');

/** Lets the event loop go round. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Another user of the file, who holds its write lock. */
function foreignLock(path: string): Disposable {
  const other = openSqlite(path);
  other.exec('BEGIN IMMEDIATE');
  return other;
}

describe('a write lock of another process', () => {
  it('M8: does not block the event loop: what waits for it is persisted when it is gone (durability §1.8)', async () => {
    const journal = await openJournal(newPath());
    const lock = foreignLock(journal.path);
    let isKept = false;
    const kept = journal.accept(anUpdate('a')).then((result) => {
      isKept = true;
      return result;
    });
    const later = journal.store.appendMessage(
      's',
      { role: 'user', content: 'hi', timestamp: 1 },
      { fence },
    );
    for (let at = 0; at < 100; at++) await turn(); // each of them is a turn in which others may work
    expect(isKept).toBe(false);
    lock[Symbol.dispose]();
    expect(await kept).toEqual({ status: 'accepted' });
    await later;
    expect(await journal.updates()).toHaveLength(1);
    await journal.close();
  });

  it('M8: fails a write after five seconds, and nothing of it is persisted (durability §1.8)', async () => {
    const clock = settableClock();
    const journal = await openJournal(newPath(), { clock });
    for (let at = 0; at < 20; at++) await turn(); // what opening has deferred is done
    const lock = foreignLock(journal.path);
    const failed = journal.accept(anUpdate('a')).catch((error: unknown) => error);
    journal.dispatched(aDispatch('d'));
    const pass = async (ms: number) => {
      for (let at = 0; at < ms; at += 10) {
        await clock.advance(10);
        await turn();
      }
    };
    await pass(4_900);
    expect(journal.problem()).toBeUndefined();
    await pass(200);
    expect(await failed).toEqual(code('database-busy'));
    expect(journal.problem()).toEqual(code('database-busy'));
    expect(journal.stats()).toMatchObject({ accepted: 0, dispatchesDropped: 0 });
    lock[Symbol.dispose]();
    await pass(1_100); // it tries by itself whether it can write again
    expect(journal.problem()).toBeUndefined();
    expect(await journal.dispatches()).toHaveLength(1); // they only wait
    expect(await journal.updates()).toEqual([]);
    await journal.close();
  });

  it('M8: does not keep a journal from being closed: dispatches are given up, and counted', async () => {
    const clock = settableClock();
    const journal = await openJournal(newPath(), { clock });
    const lock = foreignLock(journal.path);
    journal.dispatched(aDispatch('d'));
    let isClosed = false;
    const closed = journal.close().then(() => {
      isClosed = true;
    });
    while (!isClosed) {
      await clock.advance(10);
      await turn();
    }
    await closed;
    expect(journal.stats()).toMatchObject({ dispatches: 0, dispatchesDropped: 1 });
    lock[Symbol.dispose]();
  });
});

describe('what waits to be written', () => {
  it('L7: is written a part at a time, and the event loop runs in between (durability §1.8)', async () => {
    const clock = settableClock();
    const journal = await openJournal(newPath(), { clock });
    const burst = 8_000; // 16 MB in one turn of the event loop
    const body = 'z'.repeat(2_048);
    for (let at = 0; at < burst; at++)
      journal.dispatched(aDispatch(`d-${at}`, { body, occurredAtMs: clock.now() }));
    const all = journal.dispatches({ limit: 10_000 }); // they are to be written now
    const steps: number[] = [];
    for (let before = 0; before < burst; ) {
      await turn();
      const { dispatches } = journal.stats();
      if (dispatches > before) steps.push(dispatches - before);
      before = dispatches;
    }
    expect(Math.max(...steps)).toBeLessThanOrEqual(512); // 1 Mi characters
    expect(steps.length).toBeGreaterThanOrEqual(8);
    expect(await all).toHaveLength(burst);
    await journal.close();
  });

  it('fault 39: of a long flood it keeps what it can, in bounded memory, and counts the rest (durability §4.3)', {
    timeout: 300_000,
  }, async () => {
    const journal = await openJournal(newPath());
    const body = 'z'.repeat(2_048);
    const rounds = 10;
    const each = 10_000; // 200 MB altogether, of which 64 Mi characters may wait
    let mostWaiting = 0;
    for (let round = 0; round < rounds; round++) {
      for (let at = 0; at < each; at++)
        journal.dispatched(aDispatch(`d-${round}-${at}`, { body, occurredAtMs: Date.now() }));
      mostWaiting = Math.max(mostWaiting, journal.stats().charactersWaiting);
      expect(await journal.accept(anUpdate(`u-${round}`))).toEqual({ status: 'accepted' });
      await turn();
    }
    expect(mostWaiting).toBeGreaterThan(32 * 1024 * 1024); // the lab can show the fault
    expect(mostWaiting).toBeLessThanOrEqual(64 * 1024 * 1024);
    await journal.close();
    const { accepted, dispatches, dispatchesDropped } = journal.stats();
    expect(accepted).toBe(rounds); // only dispatches are dropped
    expect(dispatchesDropped).toBeGreaterThan(0);
    expect(dispatches + dispatchesDropped).toBe(rounds * each);
  });

  it('L7: an update never waits behind dispatches: a few go along with it, and the rest comes later (durability §1.8)', async () => {
    const clock = settableClock();
    const journal = await openJournal(newPath(), { clock });
    const body = 'z'.repeat(2_048);
    for (let at = 0; at < 8_000; at++)
      journal.dispatched(aDispatch(`d-${at}`, { body, occurredAtMs: clock.now() }));
    const all = journal.dispatches({ limit: 10_000 }); // they are to be written now
    expect(await journal.accept(anUpdate('a'))).toEqual({ status: 'accepted' });
    expect(journal.stats().dispatches).toBeLessThanOrEqual(64); // 128 Ki characters
    expect(await all).toHaveLength(8_000);
    await journal.close();
  });

  it('L7: many updates make several transactions, and keep their order (durability §1.8)', async () => {
    const clock = settableClock();
    const journal = await openJournal(newPath(), { clock });
    using reader = openSqlite(journal.path, { readonly: true });
    const count = reader.prepare('SELECT count(*) AS n FROM updates');
    const seen = new Set<number>();
    const writes = Array.from({ length: 2_500 }, async (_, at) => {
      await journal.accept(anUpdate(`u-${at}`));
      if (at % 250 === 0) seen.add(Number(count.get()?.['n']));
    });
    await Promise.all(writes);
    expect([...seen]).toEqual([1_000, 2_000, 2_500]);
    const ids = (await journal.updates({ limit: 10_000 })).map(({ eventId }) => eventId);
    expect(ids).toEqual(Array.from({ length: 2_500 }, (_, at) => `u-${at}`));
    await journal.close();
  });
});
