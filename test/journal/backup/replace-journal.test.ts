import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, copyFileSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openJournal, openSqlite } from '../../../src/journal/index.js';
import {
  backupJournal,
  compactJournal,
  forgetInFile,
  repairJournal,
  restoreJournal,
} from '../../../src/journal/internal.js';
import { journalTables } from '../../../src/journal/rows/journal-rows.js';
import { compiled } from '../../support/compiled.js';
import { fence, fenceOf } from '../../support/fences.js';
import { testFolder } from '../../support/folder.js';
import { aDispatch, anUpdate, aSend } from '../journal-contract.js';

const never = new AbortController().signal;

/** A journal with ended messages of two senders: each with a send, a dispatch and a session. */
async function journalOf(count: number): Promise<string> {
  const path = join(testFolder(), 'sluice.db');
  const journal = await openJournal(path);
  const ids = Array.from({ length: count }, (_, at) => `u-${at}`);
  await Promise.all(ids.map((id) => journal.accept(anUpdate(id), true)));
  for (const [at, id] of ids.entries()) {
    const body = JSON.stringify({ sender: { id: at % 3 ? 'ada' : 'bob' }, text: 'x'.repeat(900) });
    journal.dispatched(aDispatch(id, { occurredAtMs: Date.now(), body }));
    await journal.prepare(fenceOf(id), aSend(`${id}.1`, { correlationId: id, body }));
  }
  const entry = { role: 'user', content: 'hello' } as const;
  await journal.store.appendMessage('s-1', entry, { fence });
  for (const id of ids) {
    await journal.endSend(fenceOf(id), `${id}.1`, { state: 'sent' });
    await journal.endUpdate(fenceOf(id), { isDead: false, outcome: 'answered' });
  }
  await journal.close();
  return path;
}

/** All rows of a journal that can be opened. */
async function contentOf(path: string): Promise<string> {
  await (await openJournal(path)).close(); // nothing is locked, and nothing is damaged
  using database = openSqlite(path, { readonly: true });
  const rows = journalTables.map(({ name }) => database.prepare(`SELECT * FROM ${name}`).all());
  return JSON.stringify(rows);
}

/** Runs a change in a process of its own, and kills it when so many changes of the folder were seen. @returns how many were. */
async function seen(args: readonly string[], folder: string, most = Infinity): Promise<number> {
  const running = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  let isOver = false;
  const exit = once(running, 'exit').finally(() => {
    isOver = true;
  });
  const look = () =>
    readdirSync(folder).map((name) => {
      const { size, ino } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? {};
      return `${name} ${size} ${ino}`;
    });
  let count = 0;
  for (let before = String(look()); !isOver && count < most; ) {
    const now = String(look());
    if (now !== before) count++;
    before = now;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  running.kill('SIGKILL');
  await exit;
  return count;
}

const forgotten = { of: 'sender', id: 'ada' } as const;

describe('a journal that is compacted, restored or cleaned of texts', () => {
  it.each(['compact', 'restore', 'forget'])(
    'is as it was or changed as a whole when the process is killed at any of its writes: %s (durability §5.5, §5.7, §13.6, child processes)',
    async (way) => {
      const child = await compiled(
        fileURLToPath(new URL('../fixtures/replaces.ts', import.meta.url)),
      );
      const [old, from] = [await journalOf(400), await journalOf(300)];
      const run = async (most?: number) => {
        const path = join(testFolder(), 'sluice.db');
        copyFileSync(old, path);
        const count = await seen([child, way, path, from], dirname(path), most);
        return { path, count, content: await contentOf(path) };
      };
      const whole = await run();
      const contents = [await contentOf(old), whole.content];
      expect(contents[0] === contents[1]).toBe(way === 'compact');
      const draws = Array.from({ length: 3 }, () => 1 + Math.floor(Math.random() * whole.count));
      for (const most of [1, 2, ...draws, whole.count]) {
        const { path, content } = await run(most);
        expect(contents, `killed after ${most} of ${whole.count}`).toContain(content);
        await compactJournal(path, never); // what was left of the other does not hinder it
      }
    },
    300_000,
  );

  it('is as it was when a signal ends it at any of its steps (§20.15)', async () => {
    const [path, from] = [await journalOf(400), await journalOf(300)];
    const damaged = join(testFolder(), 'sluice.db');
    copyFileSync(path, damaged);
    {
      using database = openSqlite(damaged);
      database.exec(`UPDATE updates SET lane = 'other' WHERE seq % 9 = 1`); // their sums are those of others
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    }
    const ways: readonly [string, (signal: AbortSignal) => Promise<unknown>][] = [
      [path, (signal) => compactJournal(path, signal)],
      [path, (signal) => restoreJournal(path, from, 'then', signal)],
      [path, (signal) => forgetInFile(path, forgotten, false, signal)],
      [damaged, (signal) => repairJournal(damaged, 'then', signal)],
    ];
    for (const [file, work] of ways)
      for (const turns of [0, 1, 2, 5, 12]) {
        const before = readFileSync(file);
        const stop = new AbortController();
        const ended = work(stop.signal).then(() => 'done', String);
        for (let at = 0; at < turns; at++)
          await new Promise<void>((resolve) => setImmediate(resolve));
        stop.abort('SIGINT');
        expect([turns, await ended]).toEqual([turns, 'SIGINT']);
        expect(readFileSync(file).equals(before)).toBe(true);
        const left = readdirSync(dirname(file)).filter((name) => !/-(lock|wal|shm)$/.test(name));
        expect(left).toEqual(['sluice.db']);
      }
    await repairJournal(damaged, 'then', never);
    await expect(contentOf(damaged)).resolves.not.toContain('other');
  });

  it.skipIf(process.getuid?.() !== 0)(
    'stays the file of its owner if root does it, and a new one is of the owner of its folder (durability §5.7)',
    async () => {
      const from = await journalOf(2);
      const folder = testFolder();
      const path = join(folder, 'sluice.db');
      const copy = join(folder, 'copy.db');
      chownSync(folder, 1_234, 1_234);
      await restoreJournal(path, from, 'then', never);
      await backupJournal(path, copy, never);
      await compactJournal(path, never);
      await forgetInFile(path, forgotten, false, never);
      {
        using database = openSqlite(path);
        database.exec(`UPDATE updates SET lane = 'other'`);
      }
      await repairJournal(path, 'x', never);
      const owners = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).uid]);
      expect(owners).toEqual(owners.map(([name]) => [name, 1_234]));
      expect(owners.map(([name]) => name)).toContain('sluice.db.damaged-x.jsonl');
    },
  );
});
