import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { extensionData } from '../../../src/host/internal.js';
import { memoryJournal, openJournal } from '../../../src/journal/index.js';
import {
  defineExtension,
  type Extension,
  ExtensionSet,
  givenSource,
} from '../../../src/sdk/extension/index.js';
import { createTestKernel } from '../../../src/testing/index.js';
import { testFolder } from '../../support/folder.js';
import { hostLab } from '../../support/host-lab.js';

/** Counts its starts and the messages, and writes once more when it is undone. */
function counter(told: { stateDir?: string } = {}): Extension {
  return defineExtension({
    id: 'counter',
    async setup(api) {
      const count = (key: string) => api.store.update<number>(key, (before = 0) => before + 1);
      await count('starts');
      told.stateDir = api.stateDir;
      writeFileSync(join(api.stateDir, 'file.txt'), 'kept');
      api.observe('ingress.normalized', 'count', async () => {
        await count('messages');
      });
      api.own('last words', () => count('ends'));
    },
  });
}

describe('the data of extensions (extensions-that-act §2, extensions-that-act §3)', () => {
  it('are there for the next host of the same journal, with all that was written up to the end (extensions-that-act §1.4)', async () => {
    const path = join(testFolder(), 'sluice.db');
    const told: { stateDir?: string } = {};
    for (let start = 1; start <= 2; start++) {
      const journal = await openJournal(path);
      await using lab = await hostLab({ journal, extensions: [{ extension: counter(told) }] });
      if (start === 1) await lab.say('hello'); // a later one would come under the same id
      await lab.host.reload('counter'); // the new version finds what the old one wrote
      await lab.host.stop();
      const after = await openJournal(path);
      const values = await after.keyValues.list('counter', { prefix: '', limit: 10 });
      expect(Object.fromEntries(values.map(({ key, body }) => [key, Number(body)]))).toEqual({
        starts: 2 * start,
        messages: 1,
        ends: 2 * start,
      });
      await after.close();
    }
    expect(told.stateDir).toBe(`${path}-state/counter`);
    expect(readFileSync(join(`${path}-state`, 'counter', 'file.txt'), 'utf8')).toBe('kept');
  });

  it('are in memory, and the folder goes with the host, if there is no journal (extensions-that-act §3.1)', async () => {
    const told: { stateDir?: string } = {};
    const lab = await hostLab({ extensions: [{ extension: counter(told) }] });
    const { stateDir = '' } = told;
    expect(basename(stateDir)).toBe('counter');
    expect(statSync(stateDir).mode & 0o077).toBe(0);
    await lab.host.stop();
    expect(existsSync(dirname(stateDir))).toBe(false);
  });

  it('are for their user alone, also in a folder that others could read (extensions-that-act §3.1)', async () => {
    const path = join(testFolder(), 'sluice.db');
    mkdirSync(`${path}-state/counter`, { recursive: true, mode: 0o755 });
    const journal = await openJournal(path);
    await using lab = await hostLab({ journal, extensions: [{ extension: counter() }] });
    expect(lab.host.extensions).toMatchObject([{ status: 'loaded' }]);
    expect(statSync(`${path}-state/counter`).mode & 0o777).toBe(0o700);
  });

  it('are those of the host for a set that was loaded before it (extensions-that-act §1.1)', async () => {
    const { kernel } = createTestKernel();
    const extensions = new ExtensionSet(kernel);
    let key = (): Promise<unknown> => Promise.resolve();
    const acme = defineExtension({
      id: 'acme',
      setup: (api) => {
        key = () => api.store.get('key');
      },
    });
    await extensions.add(givenSource(acme));
    const journal = memoryJournal();
    const quota = { maxKeys: 1, maxBytes: 100 };
    await journal.keyValues.write('acme', 'key', { body: '"of the journal"' }, { quota });
    await using lab = await hostLab({ kernel, journal, extensions });
    expect(await key()).toBe('of the journal');
    await lab.host.stop();
    expect(await key()).toBeUndefined();
  });

  it('has a folder of its own for each id, however it is written (extensions-that-act §3.1)', () => {
    const stateDir = testFolder();
    using data = extensionData(memoryJournal(), { stateDir });
    const ids = ['acme', 'ACME', '..', '.', '%2e', 'a\\b', 'ä', 'a.', '@acme:x'];
    const folders = ids.map((id) => data.stateDirOf(id));
    expect(new Set(folders.map((folder) => folder.toLowerCase())).size).toBe(ids.length);
    for (const folder of folders) expect(dirname(folder)).toBe(stateDir);
    expect(folders[0]).toBe(join(stateDir, 'acme'));
    expect(data.stateDirOf('acme')).toBe(folders[0]);
  });

  it('says which folder cannot be made', () => {
    const file = join(testFolder(), 'file');
    writeFileSync(file, '');
    using data = extensionData(memoryJournal(), { stateDir: file });
    expect(() => data.stateDirOf('acme')).toThrow(
      expect.objectContaining({
        code: 'state-dir',
        message: expect.stringContaining(`${join(file, 'acme')} for the files of "acme"`),
      }),
    );
  });
});
