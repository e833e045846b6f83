import {
  copyFileSync,
  lstatSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJournal, openSqlite, readJournal } from '../../../src/journal/index.js';
import { backupJournal, restoreJournal } from '../../../src/journal/internal.js';
import { testFolder } from '../../support/folder.js';
import { aDispatch, anUpdate } from '../journal-contract.js';

const code = (wanted: string) => expect.objectContaining({ code: wanted });
const forever = new AbortController().signal;

/** A journal that a host has, until the end of its block. */
async function hostedJournal(path: string) {
  const journal = await openJournal(path);
  return { ...journal, [Symbol.asyncDispose]: () => journal.close() };
}

async function idsOf(path: string): Promise<string[]> {
  await using reader = await readJournal(path);
  return (await reader.updates({ limit: 10_000 })).map(({ eventId }) => eventId);
}

/** A journal with some updates that have not ended, and as many dispatches; nobody has it. */
async function journalWith(count: number, path = join(testFolder(), 'sluice.db')): Promise<string> {
  await using journal = await hostedJournal(path);
  const ids = Array.from({ length: count }, (_, at) => `u-${at}`);
  await Promise.all(ids.map((id) => journal.accept(anUpdate(id))));
  for (const id of ids) journal.dispatched(aDispatch(id, { occurredAtMs: Date.now() }));
  return path;
}

describe('a backup of a journal', () => {
  it('is the journal at one moment while a host writes on: a beginning of what it has accepted (durability §5.6)', async () => {
    const path = join(testFolder(), 'sluice.db');
    const to = join(dirname(path), 'copy.db');
    const ids: string[] = [];
    await using journal = await hostedJournal(path);
    const accept = async (): Promise<void> => {
      const id = `u-${ids.length}`;
      await journal.accept(anUpdate(id));
      ids.push(id);
    };
    for (let at = 0; at < 200; at++) await accept();
    let copy: Awaited<ReturnType<typeof backupJournal>> | undefined;
    const copying = backupJournal(path, to, forever).then((made) => {
      copy = made;
    });
    while (copy === undefined) await accept(); // the host waits for nothing, or this would never end
    await copying;
    const copied = await idsOf(to);
    expect(copied.length).toBeGreaterThanOrEqual(200);
    expect(copied).toEqual(ids.slice(0, copied.length));
    expect(copy.counts.updates.accepted).toBe(copied.length);
    expect(copy.bytes).toBe(statSync(to).size);
    expect((statSync(to).mode & 0o777).toString(8)).toBe('600');
    expect(readdirSync(dirname(path)).filter((name) => name.startsWith('copy'))).toEqual([
      'copy.db',
    ]);
    await using again = await hostedJournal(to); // a host may use it as it is
    expect(again.problem()).toBeUndefined();
  });

  it('replaces nothing, and leaves nothing if it is stopped, or if a row is damaged (durability §5.6)', async () => {
    const path = await journalWith(50);
    const folder = dirname(path);
    const to = join(folder, 'copy.db');
    writeFileSync(to, 'mine');
    await expect(backupJournal(path, to, forever)).rejects.toThrow(code('EEXIST'));
    expect(statSync(to).size).toBe(4);
    const other = join(folder, 'other.db');
    await expect(backupJournal(path, other, AbortSignal.abort('SIGINT'))).rejects.toBe('SIGINT');
    {
      using database = openSqlite(path);
      database.exec(`UPDATE updates SET body = '"other"' WHERE seq = 17`); // its sum is that of another
    }
    await expect(backupJournal(path, other, forever)).rejects.toThrow(code('database-damaged'));
    expect(readdirSync(folder).filter((name) => /copy|other/.test(name))).toEqual(['copy.db']);
  });

  it('is checked before it is put back, which the journal that was there outlives (durability §5.7)', async () => {
    const path = await journalWith(3);
    const folder = dirname(path);
    const from = join(folder, 'copy.db');
    await backupJournal(path, from, forever);
    {
      await using journal = await hostedJournal(path);
      await journal.accept(anUpdate('later'));
      await expect(restoreJournal(path, from, 'then', forever)).rejects.toThrow(
        code('journal-in-use'),
      );
    }
    const newer = join(folder, 'newer.db');
    const damaged = join(folder, 'damaged.db');
    for (const [file, sql] of [
      [newer, 'PRAGMA user_version = 5'],
      [damaged, 'UPDATE updates SET lane = 7 WHERE seq = 2'],
    ] as const) {
      copyFileSync(from, file);
      using database = openSqlite(file);
      database.exec(sql);
    }
    await expect(restoreJournal(path, newer, 'then', forever)).rejects.toThrow(
      code('not-a-journal'),
    );
    await expect(restoreJournal(path, damaged, 'then', forever)).rejects.toThrow(
      code('database-damaged'),
    );
    expect(await idsOf(path)).toEqual(['u-0', 'u-1', 'u-2', 'later']);
    const { kept = '', counts } = await restoreJournal(path, from, 'then', forever);
    expect([basename(kept), counts.updates.accepted]).toEqual(['sluice.db.before-then', 3]);
    expect(await idsOf(path)).toEqual(['u-0', 'u-1', 'u-2']);
    expect(await idsOf(kept)).toEqual(['u-0', 'u-1', 'u-2', 'later']);
    const files = [path, kept].map((file) => (statSync(file).mode & 0o777).toString(8));
    expect(files).toEqual(['600', '600']);
  });

  it('takes nothing from a copy that was killed, and goes through a link to the journal (durability §5.6, §5.7)', async () => {
    const path = await journalWith(2);
    const folder = dirname(path);
    const copy = join(folder, 'copy.db');
    const named = join(testFolder(), 'link.db');
    symlinkSync(path, named);
    writeFileSync(`${copy}.part-journal`, 'of a copy that was killed');
    await backupJournal(path, copy, forever);
    {
      await using journal = await hostedJournal(path);
      await journal.accept(anUpdate('later'));
    }
    for (const suffix of ['', '-journal']) writeFileSync(`${path}.new-old${suffix}`, 'killed');
    const { kept = '' } = await restoreJournal(named, copy, 'then', forever);
    expect(lstatSync(named).isSymbolicLink()).toBe(true);
    expect([await idsOf(path), await idsOf(kept)]).toEqual([
      ['u-0', 'u-1'],
      ['u-0', 'u-1', 'later'],
    ]);
    const left = readdirSync(folder).filter((name) => /part|new/.test(name));
    expect(left).toEqual([]);
  });

  it('is put where no journal is, and beside the log of a host that was killed (durability §5.7)', async () => {
    const from = await journalWith(2);
    const path = join(testFolder(), 'sluice.db');
    const { kept } = await restoreJournal(path, from, 'then', forever);
    expect([kept, await idsOf(path)]).toEqual([undefined, ['u-0', 'u-1']]);
    const killed = join(testFolder(), 'sluice.db');
    {
      await using journal = await hostedJournal(path);
      await journal.accept(anUpdate('in-log'));
      for (const suffix of ['', '-wal']) copyFileSync(path + suffix, killed + suffix);
    }
    const { kept: before = '' } = await restoreJournal(killed, from, 'then', forever);
    expect(await idsOf(killed)).toEqual(['u-0', 'u-1']);
    expect(await idsOf(before)).toEqual(['u-0', 'u-1', 'in-log']);
  });
});
