import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { openJournal, openSqlite, readJournal, tendJournal } from '../../../src/journal/index.js';
import { type Clock, systemClock } from '../../../src/kernel/index.js';
import { compiled } from '../../support/compiled.js';
import { fence, fenceOf } from '../../support/fences.js';
import { testFolder } from '../../support/folder.js';
import { aDispatch, anUpdate, aSend, settableClock } from '../journal-contract.js';

const code = (wanted: string) => expect.objectContaining({ code: wanted });
/** For what is done in the background. */
const patiently = { timeout: 280_000, interval: 5 };

const newPath = () => join(testFolder(), 'sluice.db');

/** A journal with something in each of its tables, closed. */
async function filledJournal(updates = 50): Promise<string> {
  const path = newPath();
  const journal = await openJournal(path);
  const ids = Array.from({ length: updates }, (_, at) => `u-${at}`);
  await Promise.all(ids.map((id) => journal.accept(anUpdate(id, { body: 'x'.repeat(800) }))));
  await Promise.all(
    ids.map((id) => journal.prepare(fence, aSend(`${id}.1`, { correlationId: id }))),
  );
  for (const id of ids)
    journal.dispatched(aDispatch(id, { body: 'y'.repeat(800), occurredAtMs: Date.now() }));
  await journal.close();
  return path;
}

describe('a journal in a file', () => {
  it('never gives a number again, also of what was dropped (fault 38)', async () => {
    const path = newPath();
    const clock = settableClock();
    const first = await openJournal(path, { clock });
    await first.accept(anUpdate('a'));
    await first.endUpdate(fenceOf('a'), { isDead: false, outcome: 'answered' });
    await first.close();
    await clock.advance(8 * 86_400_000);
    const second = await openJournal(path, { clock });
    await vi.waitFor(async () => expect(await second.updates()).toEqual([]), patiently);
    clock.set(-30 * 86_400_000);
    await second.accept(anUpdate('b'));
    expect((await second.updates())[0]?.seq).toBe(2);
    await second.close();
  });

  it('writes what comes in one turn of the event loop in one transaction (durability §1.2)', async () => {
    const journal = await openJournal(newPath(), { clock: settableClock() });
    const reader = await readJournal(journal.path);
    const seen: number[] = [];
    const writes = Array.from({ length: 200 }, async (_, at) => {
      await journal.accept(anUpdate(`u-${at}`));
      seen.push((await reader.updates()).length);
    });
    await Promise.all(writes);
    expect(new Set(seen)).toEqual(new Set([200])); // none was told before all were there
    await reader.close();
    await journal.close();
  });

  it('fails one write alone that it refuses, and the others go on', async () => {
    const journal = await openJournal(newPath());
    const results = await Promise.allSettled([
      journal.accept(anUpdate('a')),
      journal.begin('unknown'),
      journal.accept(anUpdate('zero\0')),
      journal.accept(anUpdate('b')),
    ]);
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
    ]);
    expect(await journal.updates()).toHaveLength(2);
    await journal.close();
  });

  it('may be read while it is written, and sees what another process changed', async () => {
    const path = await filledJournal(1);
    const journal = await openJournal(path);
    await journal.begin('u-0');
    await journal.endUpdate(fenceOf('u-0'), { isDead: true, outcome: 'failed' });
    expect(journal.changedOutside()).toBe(false);
    const other = await tendJournal(path);
    expect(await other.retry('u-0')).toBe(true);
    await other.close();
    expect([journal.changedOutside(), journal.changedOutside()]).toEqual([true, false]);
    await journal.close();
  });

  it('shows an operator beside a host each message as it is: one that died once more can be purged (durability §1.17)', async () => {
    const path = await filledJournal(1);
    const journal = await openJournal(path);
    const die = async () => {
      const { fence: begun } = await journal.begin('u-0');
      await journal.endUpdate(begun, { isDead: true, outcome: 'failed', reason: 'no' });
    };
    await die();
    const other = await tendJournal(path);
    expect(await other.retry('u-0')).toBe(true);
    await die();
    expect(await other.purge('u-0')).toBe(1);
    await other.close();
    await journal.close();
  });

  it('is used by one process at a time, and free as soon as that has ended (durability §1.4)', async () => {
    const path = newPath();
    const journal = await openJournal(path);
    await expect(openJournal(path)).rejects.toThrow(code('journal-in-use'));
    const child = await compiled(fileURLToPath(new URL('../fixtures/opens.ts', import.meta.url)));
    const inChild = () => spawnSync(process.execPath, [child, path], { encoding: 'utf8' }).stdout;
    expect(inChild()).toBe('journal-in-use\n');
    await journal.close();
    expect(inChild()).toBe('opened\n'); // and killed while it had it open
    const again = await openJournal(path);
    expect(await again.updates()).toMatchObject([{ eventId: 'of the child' }]);
    // a value of a store, too, is on the disk when its promise resolves (extensions-that-act §2.7)
    expect(await again.keyValues.get('acme', 'of the child')).toMatchObject({
      body: '{"kept":true}',
    });
    await again.close();
  });

  it('drops the oldest where there is more than is kept, dispatches first (durability §5.1)', async () => {
    const path = await filledJournal(3_000);
    const journal = await openJournal(path, { keepBytes: 5 * 1024 * 1024 });
    const kept = await vi.waitFor(async () => {
      const left = await journal.dispatches({ limit: 10_000 });
      expect(left.length).toBeLessThan(2_500);
      return left;
    }, patiently);
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.at(-1)?.eventId).toBe('u-2999');
    expect(await journal.updates({ limit: 10_000 })).toHaveLength(3_000);
    await journal.close();
  });
});

describe('a journal that runs for long', () => {
  it('does not grow far beyond what is persisted, without being opened anew (durability §5.1)', async () => {
    const keepBytes = 1024 * 1024;
    const journal = await openJournal(join(testFolder(), 'long.db'), { keepBytes });
    for (let at = 0; at < 40; at++) {
      for (let one = 0; one < 25; one++)
        journal.dispatched(aDispatch(`d-${at}-${one}`, { body: `"${'y'.repeat(8_000)}"` }));
      await journal.accept(anUpdate(`u-${at}`)); // what waits is written with it
    }
    const { size } = statSync(journal.path);
    await journal.close();
    // of 8 MB that were written: a sweep takes a bounded time, and so leaves more on a slow machine
    expect(size).toBeLessThan(6 * keepBytes);
  });
});

describe('fault 35: a journal that cannot be used', () => {
  it('is no journal: a foreign file, another database, another version', async () => {
    const folder = testFolder();
    const text = join(folder, 'text.db');
    writeFileSync(text, 'a text that is no database, and long enough. '.repeat(50));
    await expect(openJournal(text)).rejects.toThrow(code('database-damaged'));
    const other = join(folder, 'other.db');
    const database = openSqlite(other);
    database.exec('CREATE TABLE notes (id TEXT)');
    database.close();
    await expect(openJournal(other)).rejects.toThrow(code('not-a-journal'));
    await expect(readJournal(other)).rejects.toThrow(code('not-a-journal'));
    const path = await filledJournal(1);
    const newer = openSqlite(path);
    newer.exec('PRAGMA user_version = 99');
    newer.close();
    await expect(openJournal(path)).rejects.toThrow(/version 99/);
    await expect(openJournal(join(folder, 'none', 'sluice.db'))).rejects.toThrow(
      code('database-not-opened'),
    );
    const tooLong = join(folder, 'x'.repeat(300));
    await expect(openJournal(folder)).rejects.toThrow(/it is a folder/);
    expect(existsSync(`${folder}-lock`)).toBe(false);
    await expect(openJournal(tooLong)).rejects.toThrow(code('database-not-opened'));
    await expect(readJournal(tooLong)).rejects.toThrow(code('database-not-opened'));
  });

  it.each<[string, (path: string, bytes: Buffer) => void]>([
    [
      'bytes that are flipped',
      (path, bytes) => {
        for (let at = 4_096; at < bytes.length; at += 97) bytes[at] = (bytes[at] ?? 0) ^ 0xff;
        writeFileSync(path, bytes);
      },
    ],
    ['a cut end', (path, bytes) => truncateSync(path, Math.floor(bytes.length / 2))],
    ['zeros', (path, bytes) => writeFileSync(path, bytes.fill(0, 8_192, 65_536))],
  ])('%s are found before anything is taken in, and nothing is skipped', async (_, damage) => {
    const path = await filledJournal(200);
    damage(path, readFileSync(path));
    await expect(openJournal(path)).rejects.toThrow(code('database-damaged'));
    await expect(openJournal(path)).rejects.toThrow(code('database-damaged')); // and no lock is left
  });

  it('that another process locks for a moment is opened, however long the look at the file took (durability §1.8)', async () => {
    using other = openSqlite(await filledJournal());
    other.exec('BEGIN IMMEDIATE');
    let nowMs = 0;
    const setTimeout: Clock['setTimeout'] = (run) => {
      if (other.inTransaction) other.exec('COMMIT');
      return systemClock.setTimeout(run, 0);
    };
    const clock = { ...systemClock, setTimeout, monotonicMs: () => (nowMs += 6_000) };
    await (await openJournal(other.path, { clock })).close();
  });

  it.each([
    ['for 20 seconds', 20_000],
    ['until it is told to stop', 3_000],
  ])('that another process keeps locked is waited for %s (durability §1.8)', async (_, endsMs) => {
    using other = openSqlite(await filledJournal());
    other.exec('BEGIN IMMEDIATE');
    const stop = new AbortController();
    let nowMs = 0;
    const setTimeout: Clock['setTimeout'] = (run) => {
      nowMs += 1_000;
      if (endsMs < 20_000 && nowMs >= endsMs) stop.abort();
      return systemClock.setTimeout(run, 0);
    };
    const clock = { ...systemClock, setTimeout, monotonicMs: () => nowMs };
    const opening = openJournal(other.path, { clock, signal: stop.signal });
    await expect(openJournal(other.path)).rejects.toThrow(code('journal-in-use')); // and at once
    await expect(opening).rejects.toThrow(code('database-busy'));
    expect(nowMs).toBe(endsMs);
  });

  it('a full one keeps what it has, refuses what it cannot keep, and says so', async () => {
    const path = newPath();
    const journal = await openJournal(path, { maxPages: 60 });
    const taken: string[] = [];
    let refused: unknown;
    for (let at = 0; at < 500 && refused === undefined; at++)
      try {
        await journal.accept(anUpdate(`u-${at}`, { body: 'x'.repeat(1_000) }));
        taken.push(`u-${at}`);
      } catch (error) {
        refused = error;
      }
    expect(refused).toEqual(code('database-full'));
    expect(taken.length).toBeGreaterThan(10);
    expect((await journal.updates()).map(({ eventId }) => eventId)).toEqual(taken);
    await journal.close();
    const reopened = await openJournal(path);
    expect((await reopened.updates()).map(({ eventId }) => eventId)).toEqual(taken);
    await reopened.close();
  });

  it('dispatches give way where there is no room for them, and are counted', async () => {
    const journal = await openJournal(newPath(), { maxPages: 60 });
    for (let at = 0; at < 100; at++)
      journal.dispatched(aDispatch(`d-${at}`, { body: 'y'.repeat(9_000) }));
    expect(await journal.accept(anUpdate('a'))).toEqual({ status: 'accepted' });
    await journal.close();
    const { accepted, dispatches, dispatchesDropped } = journal.stats();
    expect(accepted).toBe(1);
    expect(dispatchesDropped).toBeGreaterThan(50);
    expect(dispatches + dispatchesDropped).toBe(100);
  });

  it('of a burst of dispatches it keeps what there is room for, and counts the rest (fault 39, durability §4.3)', async () => {
    const journal = await openJournal(newPath());
    const body = 'z'.repeat(2_048);
    const burst = 40_000; // within one turn of the event loop: 80 MB, of which 64 may wait
    for (let at = 0; at < burst; at++) journal.dispatched(aDispatch(`d-${at}`, { body }));
    const { dispatchesDropped } = journal.stats();
    expect(dispatchesDropped).toBeGreaterThan(0);
    expect(dispatchesDropped).toBeLessThan(burst / 2);
    expect(await journal.accept(anUpdate('a'))).toEqual({ status: 'accepted' }); // what must last is not blocked
    expect(journal.stats().charactersWaiting).toBeLessThanOrEqual(64 * 1024 * 1024);
    await journal.dispatches({ limit: 1 }); // what waits is written
    expect(journal.stats()).toMatchObject({
      dispatches: burst - dispatchesDropped,
      dispatchesDropped,
      charactersWaiting: 0,
    });
    journal.dispatched(aDispatch('after')); // and there is room again
    expect(await journal.dispatches({ eventId: 'after' })).toHaveLength(1);
    await journal.close();
  });

  it('is dead once it is closed', async () => {
    const journal = await openJournal(newPath());
    await journal.close();
    await journal.close();
    await expect(journal.accept(anUpdate('a'))).rejects.toThrow(code('database-closed'));
    journal.dispatched(aDispatch('d'));
    expect(journal.stats().dispatchesDropped).toBe(1);
  });
});
