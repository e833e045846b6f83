import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJournal } from '../../../src/journal/index.js';
import { anUpdate } from '../../journal/journal-contract.js';
import { testFolder } from '../../support/folder.js';
import { runInMemory } from '../memory-shell.js';

/** A journal of three messages, with one bit changed in the body of the second. */
async function damagedJournal(): Promise<string> {
  const path = join(testFolder(), 'sluice.db');
  const journal = await openJournal(path);
  for (const id of ['u-1', 'u-2', 'u-3'])
    await journal.accept(anUpdate(id, { body: `"words of ${id}"` }));
  await journal.close();
  const bytes = readFileSync(path);
  const at = bytes.indexOf('words of u-2');
  bytes[at] = (bytes[at] ?? 0) ^ 0x80;
  writeFileSync(path, bytes);
  return path;
}

const journalCommand = (path: string, ...args: readonly string[]) =>
  runInMemory(['journal', ...args, '--journal', path, '--no-config']);

describe('H1: sluice journal on a damaged journal', () => {
  it('list and show read past a bad row, name it, and end with 1 (durability §1.11)', async () => {
    const path = await damagedJournal();
    const listed = await journalCommand(path, 'list');
    expect(listed.code).toBe(1);
    expect(listed.stdout).toMatch(/u-1 [\s\S]*u-3 /);
    expect(listed.stdout).not.toContain('u-2');
    expect(listed.stderr).toMatch(/database-damaged: .*row 2 of updates, body: .*not UTF-8/);
    expect(listed.stderr).toContain('sluice journal repair');
    const shown = await journalCommand(path, 'show', 'u-3');
    expect([shown.code, shown.stderr]).toEqual([0, '']);
    expect(shown.stdout).toContain('words of u-3');
  });

  it('repair moves the bad row to a side file that nobody else can read (durability §1.12)', async () => {
    const path = await damagedJournal();
    await expect(openJournal(path)).rejects.toThrow(/row 2 of updates/);
    const { code, stdout } = await journalCommand(path, 'repair', '--json');
    expect(code).toBe(0);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ status: 'repaired', kept: 2, moved: 1 });
    expect(report.problems).toEqual([expect.stringContaining('row 2 of updates')]);
    const [line] = readFileSync(report.sideFile, 'utf8').split('\n');
    const { table, row } = JSON.parse(line ?? '');
    const body = Buffer.from(row.body.base64, 'base64');
    expect([table, row.seq, body.toString('latin1')]).toEqual([
      'updates',
      2,
      `"${'\u00f7'}ords of u-2"`,
    ]);
    for (const file of [path, report.sideFile, report.copy])
      expect([file, (statSync(file).mode & 0o777).toString(8)]).toEqual([file, '600']);
    const journal = await openJournal(path);
    expect((await journal.updates()).map(({ eventId, seq }) => [eventId, seq])).toEqual([
      ['u-1', 1],
      ['u-3', 3],
    ]);
    await journal.accept(anUpdate('u-4'));
    expect((await journal.updates({ eventId: 'u-4' }))[0]?.seq).toBe(4);
    await journal.close();
    expect((await journalCommand(path, 'list')).code).toBe(0);
  });

  it('repair refuses while a host uses the journal, and leaves alone what is well (durability §1.12)', async () => {
    const path = join(testFolder(), 'sluice.db');
    const journal = await openJournal(path);
    const refused = await journalCommand(path, 'repair');
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('journal-in-use');
    await journal.close();
    const before = readFileSync(path);
    const { code, stdout } = await journalCommand(path, 'repair');
    expect([code, stdout]).toEqual([0, `${path} is well: nothing was done\n`]);
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});
