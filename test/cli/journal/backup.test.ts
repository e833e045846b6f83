import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openJournal, readJournal } from '../../../src/journal/index.js';
import { anUpdate } from '../../journal/journal-contract.js';
import { testFolder } from '../../support/folder.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { jsonLines } from '../cli.js';
import { runInMemory } from '../memory-shell.js';

/** A folder with a config and the journal that it names, which a host has. */
async function hostOf() {
  const cwd = testFolder();
  const journal = await openJournal(join(cwd, 'sluice.db'));
  onTestFinished(() => journal.close());
  await journal.accept(anUpdate('u-1'));
  return { cwd, journal, run: (...args: string[]) => runInMemory(args, '', { cwd }) };
}

describe('sluice journal backup and restore', () => {
  it('copy a journal while a host has it, and put the copy back when it has none (durability §5.6, §5.7)', async () => {
    const { cwd, journal, run } = await hostOf();
    const named = ['--journal', 'sluice.db'];
    const { code, stdout } = await run('journal', 'backup', 'copy.db', ...named);
    expect(code).toBe(0);
    const copy = join(cwd, 'copy.db');
    const { size } = statSync(copy);
    expect(stdout).toBe(
      `${copy}: ${size} bytes, and every row of it is well; 1 message and 0 sends in it have not ended\n`,
    );
    const again = await run('journal', 'backup', 'copy.db', ...named);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('file-exists')]);
    await journal.accept(anUpdate('u-2'));
    const early = await run('journal', 'restore', 'copy.db', ...named);
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining('journal-in-use')]);
    await journal.close();
    const restored = await run('journal', 'restore', 'copy.db', ...named, '--json');
    expect(restored.code).toBe(0);
    const [{ kept, ...told } = { kept: '' }] = jsonLines<{ kept: string }>(restored.stdout);
    expect(told).toMatchObject({ backup: copy, bytes: size, updates: { accepted: 1 } });
    expect(existsSync(kept)).toBe(true);
    await using reader = await readJournal(join(cwd, 'sluice.db'));
    expect((await reader.updates()).map(({ eventId }) => eventId)).toEqual(['u-1']);
  });

  it('make a journal where there is none, and name what they cannot do in one line', async () => {
    const { cwd, journal, run } = await hostOf();
    expect((await run('journal', 'backup', 'copy.db', '--journal', 'sluice.db')).code).toBe(0);
    await journal.close();
    rmSync(join(cwd, 'sluice.db'));
    const restored = await run('journal', 'restore', 'copy.db', '--journal', 'new.db');
    expect([restored.code, restored.stdout]).toEqual([0, expect.stringContaining('new.db is as')]);
    for (const [args, line] of [
      [['backup', 'x.db', '--journal', 'no.db'], /^sluice: missing-file: there is no journal /],
      [['backup', 'no/x.db', '--journal', 'new.db'], /^sluice: unwritable-file: .*ENOENT/],
      [['restore', 'no.db', '--journal', 'new.db'], /^sluice: missing-file: there is no file /],
    ] as const) {
      const { code, stderr } = await run('journal', ...args);
      expect([code, stderr.trimEnd().split('\n')]).toEqual([
        expect.any(Number),
        [expect.stringMatching(line)],
      ]);
      expect(code).not.toBe(0);
    }
    const stop = AbortSignal.abort('SIGINT');
    const args = ['journal', 'backup', 'x.db', '--journal', 'new.db'];
    const { code, stderr } = await runInMemory(args, '', { cwd, stop });
    expect([code, stderr]).toEqual([
      1,
      `sluice: interrupted: SIGINT has stopped it: ${join(cwd, 'x.db')} is as it was. Run it again.\n`,
    ]);
    expect(readdirSync(cwd).filter((name) => name.startsWith('x'))).toEqual([]);
    for (const action of ['compact', 'repair', 'restore copy.db', 'forget --sender x']) {
      const line = ['journal', ...action.split(' '), '--journal', 'new.db'];
      expect((await runInMemory(line, '', { cwd, stop })).stderr).toBe(
        `sluice: interrupted: SIGINT has stopped it: ${join(cwd, 'new.db')} is as it was. Run it again.\n`,
      );
    }
  });

  it('leave a journal in PostgreSQL to the tools of PostgreSQL', async () => {
    using folder = temporaryFolder({
      'sluice.config.json': '{ "journal": { "url": "postgres://127.0.0.1:9/sluice" } }',
    });
    for (const action of ['backup', 'restore']) {
      const args = ['journal', action, 'copy.db'];
      const { code, stderr } = await runInMemory(args, '', { cwd: folder.path });
      expect([code, stderr]).toEqual([2, expect.stringMatching(/is in PostgreSQL.* pg_dump\.\n$/)]);
    }
  });
});
