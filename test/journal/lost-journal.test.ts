import { spawnSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openJournal } from '../../src/journal/index.js';
import { virtualClock } from '../../src/testing/index.js';
import { compiled } from '../support/compiled.js';
import { fence } from '../support/fences.js';
import { fileCalls } from '../support/file-calls.js';
import { testFolder } from '../support/folder.js';
import { aDispatch, anUpdate, aSend } from './journal-contract.js';

const code = (wanted: string) => expect.objectContaining({ code: wanted });
const newPath = () => join(testFolder(), 'sluice.db');

const losses: readonly (readonly [string, (path: string) => void])[] = [
  ['removed', (path) => rmSync(path)],
  ['moved', (path) => renameSync(path, `${path}.1`)],
  [
    'replaced by a copy of itself',
    (path) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
  ],
  ['parted from its log', (path) => rmSync(`${path}-wal`)],
  ['parted from its index of the log', (path) => rmSync(`${path}-shm`)],
  ['parted from its lock', (path) => rmSync(`${path}-lock`)],
];

describe('M7: a journal whose file was', () => {
  it.each(losses)(
    '%s is noticed by the next write: nothing is acknowledged (durability §1.9)',
    async (_, lose) => {
      const journal = await openJournal(newPath());
      await journal.accept(anUpdate('before'));
      expect(journal.problem()).toBeUndefined();
      lose(journal.path);
      const refused = await Promise.allSettled([
        journal.accept(anUpdate('a')),
        journal.begin('before'),
        journal.prepare(fence, aSend('a.1')),
        journal.store.appendMessage('s', { role: 'user', content: 'hi', timestamp: 1 }, { fence }),
      ]);
      expect(refused).toEqual(
        refused.map(() => ({ status: 'rejected', reason: code('journal-lost') })),
      );
      expect(journal.stats().accepted).toBe(1);
      journal.dispatched(aDispatch('d'));
      await journal.close();
      expect(journal.stats()).toMatchObject({ dispatches: 0, dispatchesDropped: 1 });
    },
    300_000,
  );

  it.each(losses)(
    '%s in a folder in which nothing had changed for long is noticed by the next write (durability §1.9)',
    async (_, lose) => {
      const journal = await openJournal(newPath());
      utimesSync(dirname(journal.path), 0, 0);
      using calls = fileCalls();
      await journal.accept(anUpdate('all four files'));
      await journal.accept(anUpdate('the folder'));
      expect(calls.counts().stats).toBe(1 + 4 + 1);
      lose(journal.path);
      await expect(journal.accept(anUpdate('a'))).rejects.toThrow(code('journal-lost'));
      await journal.close();
    },
    300_000,
  );

  it('replaced behind a link is noticed by the next write (durability §1.9)', async () => {
    const journal = await openJournal(newPath());
    const { path } = journal;
    const elsewhere = join(testFolder(), 'moved.db');
    renameSync(path, elsewhere);
    symlinkSync(elsewhere, path);
    utimesSync(dirname(path), 0, 0);
    await journal.accept(anUpdate('a')); // it is the same file
    copyFileSync(elsewhere, `${elsewhere}.copy`);
    renameSync(`${elsewhere}.copy`, elsewhere);
    await expect(journal.accept(anUpdate('b'))).rejects.toThrow(code('journal-lost'));
    await journal.close();
  });

  it.each(losses)(
    '%s is noticed where nothing is written (durability §1.9)',
    async (_, lose) => {
      const journal = await openJournal(newPath());
      lose(journal.path);
      expect(journal.problem()).toEqual(code('journal-lost'));
      await journal.close();
    },
    300_000,
  );

  it('moved does not heal when it is put back: what was written meanwhile is nobody knows where (durability §1.9)', async () => {
    const journal = await openJournal(newPath());
    const { path } = journal;
    renameSync(path, `${path}.1`);
    expect(journal.problem()).toEqual(code('journal-lost'));
    renameSync(`${path}.1`, path);
    expect(journal.problem()).toEqual(code('journal-lost'));
    await expect(journal.accept(anUpdate('a'))).rejects.toThrow(code('journal-lost'));
    await journal.close();
    const again = await openJournal(path); // the next host has it
    expect(await again.accept(anUpdate('a'))).toEqual({ status: 'accepted' });
    await again.close();
  });

  it('made unreadable refuses each write until it can be looked at again, and is tried each second (durability §1.10)', async () => {
    const clock = virtualClock();
    const journal = await openJournal(newPath(), { clock });
    const { path } = journal;
    renameSync(path, `${path}.1`);
    symlinkSync(path, path); // a loop: `stat` throws ELOOP
    expect(journal.problem()).toEqual(code('database-io'));
    await expect(journal.accept(anUpdate('a'))).rejects.toThrow(code('database-io'));
    rmSync(path);
    renameSync(`${path}.1`, path);
    expect(journal.problem()).toEqual(code('database-io')); // until a write is persisted
    await clock.advance(1_000);
    await expect.poll(() => journal.problem()).toBeUndefined();
    expect((await journal.accept(anUpdate('b'))).status).toBe('accepted');
    await journal.close();
  });

  it('unlocked, so that another process takes it over, belongs to that one from then on (durability §1.4)', async () => {
    const journal = await openJournal(newPath());
    await journal.accept(anUpdate('before'));
    // the locks of a process on a file are gone as soon as anything in it closes that file
    closeSync(openSync(`${journal.path}-lock`, 'r'));
    const child = await compiled(fileURLToPath(new URL('./fixtures/opens.ts', import.meta.url)));
    const { stdout } = spawnSync(process.execPath, [child, journal.path], {
      encoding: 'utf8',
    });
    expect(stdout).toBe('opened\n'); // the lab can show the fault
    await expect(journal.accept(anUpdate('a'))).rejects.toThrow(/another process/);
    expect(journal.problem()).toEqual(code('journal-lost'));
    const kept = (await journal.updates()).map(({ eventId }) => eventId);
    expect(kept).toEqual(['before', 'of the child']);
    await journal.close();
  });
});
