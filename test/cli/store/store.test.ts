import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJournal } from '../../../src/journal/index.js';
import { openStore } from '../../../src/sdk/extension/internal.js';
import { testFolder } from '../../support/folder.js';
import { jsonLines } from '../cli.js';
import { runInMemory } from '../memory-shell.js';

/** A journal in which two extensions and the host keep something. */
async function filled(): Promise<string> {
  const path = join(testFolder(), 'sluice.db');
  const journal = await openJournal(path);
  const { keyValues: values } = journal;
  const storeOf = (id: string) => openStore(id, { values, now: () => Date.now() });
  await storeOf('rate-limit').set('count/42', { n: 3 });
  await storeOf('rate-limit').set('count/7', 'a\u001b[2J\u202eb', { ttlMs: 86_400_000 });
  await storeOf('rate-limit').set('mode', 'strict');
  await storeOf('other').set('x', 1);
  await storeOf('/schedules').set('daily', 1);
  await journal.close();
  return path;
}

describe('sluice store (extensions-that-act §2.8)', () => {
  const sluice = (path: string, ...args: string[]) =>
    runInMemory(['store', ...args, '--journal', path]);

  it('lists the extensions that keep something, and their values', async () => {
    const path = await filled();
    const all = await sluice(path, 'list');
    expect([all.code, all.stderr]).toEqual([0, '']);
    expect(all.stdout).toBe('other: 1 key, 2 bytes\nrate-limit: 3 keys, 50 bytes\n');
    const one = await sluice(path, 'list', 'rate-limit', 'count/');
    expect(one.stdout.split('\n')).toEqual([
      'count/42  {"n":3}',
      expect.stringMatching(/^count\/7 {2}"a\\u001b\[2J\\u202eb" {2}until 20\d\d-.*Z$/),
      '',
    ]);
    const { stdout } = await sluice(path, 'list', 'rate-limit', '--json');
    expect(jsonLines(stdout)).toEqual([
      { key: 'count/42', value: { n: 3 } },
      { key: 'count/7', value: 'a\u001b[2J\u202eb', expiresAtMs: expect.any(Number) },
      { key: 'mode', value: 'strict' },
    ]);
    expect(jsonLines((await sluice(path, 'list', '--json')).stdout)).toContainEqual({
      ...{ extensionId: 'other', keys: 1, bytes: 2 },
    });
  });

  it('gets, deletes and clears', async () => {
    const path = await filled();
    expect((await sluice(path, 'get', 'rate-limit', 'count/42')).stdout).toBe('{"n":3}\n');
    const deleted = await sluice(path, 'delete', 'rate-limit', 'count/42');
    expect([deleted.code, deleted.stdout]).toEqual([0, 'count/42 is deleted\n']);
    expect((await sluice(path, 'clear', 'rate-limit')).stdout).toBe('2 values are deleted\n');
    expect((await sluice(path, 'list')).stdout).toBe('other: 1 key, 2 bytes\n');
  });

  it.each([
    [['lst'], 'there is no action "lst"', 'Actions: list, get, delete, clear.'],
    [['get'], "missing required argument 'extension'", 'sluice store get --help'],
    [['delete', 'other'], "missing required argument 'key'", 'sluice store delete --help'],
    [['clear', 'other', 'x'], "too many arguments for 'clear'", 'sluice store clear --help'],
    [['get', 'other', 'y'], '"other" keeps no "y"', 'sluice store list other'],
    [['clear', 'rate-limits'], 'keeps nothing of an extension "rate-limits"', '"rate-limit"?'],
    [['clear', '/schedules'], '"/schedules" is the host\'s own', 'Name an extension'],
  ])('refuses bad input in one line: %j', async (args, what, hint) => {
    const { code, stdout, stderr } = await sluice(await filled(), ...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain(what);
    expect(stderr).toContain(hint);
  });

  it('says so if no journal is named', async () => {
    const { code, stderr } = await runInMemory(['store', 'list', '--no-config']);
    expect(code).toBe(2);
    expect(stderr).toContain('no journal is named');
  });
});

describe('an extension under `sluice run` (extensions-that-act §1.1, extensions-that-act §2.6)', () => {
  it('keeps from setup to its end, and files beside the journal', async () => {
    const folder = testFolder();
    const extension = join(folder, 'counter.mjs');
    writeFileSync(
      extension,
      `import { writeFileSync } from 'node:fs';
      import { join } from 'node:path';
      export default { kind: 'sluice-extension', id: 'counter', manifest: {}, config: undefined, async setup(api) {
        const starts = await api.store.update('starts', (before = 0) => before + 1);
        writeFileSync(join(api.stateDir, 'starts.txt'), String(starts));
        api.observe('egress.sent', 'count', async () => {
          await api.store.update('sent', (before = 0) => before + 1);
        });
        api.own('last words', () => api.store.set('ended', starts));
      } };`,
    );
    const path = join(folder, 'sluice.db');
    for (let start = 1; start <= 2; start++) {
      const args = ['run', '--quiet', '--no-config', '-e', extension, '--journal', path];
      const { code, stderr } = await runInMemory(args, 'one\ntwo\n');
      expect([code, stderr]).toEqual([0, '']);
      const { stdout } = await runInMemory(['store', 'list', 'counter', '--journal', path]);
      expect(stdout).toBe(`ended  ${start}\nsent  ${2 * start}\nstarts  ${start}\n`);
    }
  });
});
