import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openJournal, openSqlite, readJournal } from '../../src/journal/index.js';
import { repairJournal } from '../../src/journal/internal.js';
import { openStore } from '../../src/sdk/extension/internal.js';
import { virtualClock } from '../../src/testing/index.js';
import { compiled } from '../support/compiled.js';
import { testFolder } from '../support/folder.js';

const newPath = () => join(testFolder(), 'sluice.db');
const quota = { maxKeys: 100, maxBytes: 100_000 };

describe('a store in the file of a journal (extensions-that-act §2)', () => {
  it('loses no update of two processes (extensions-that-act §2.3, child process)', async () => {
    const path = newPath();
    await using journal = Object.assign(await openJournal(path), {
      [Symbol.asyncDispose]: () => journal.close(),
    });
    const store = openStore('acme', { values: journal.keyValues, now: () => Date.now() });
    const program = fileURLToPath(new URL('./fixtures/writes-values.ts', import.meta.url));
    const times = 40;
    const child = spawn(process.execPath, [await compiled(program), path, String(times)]);
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    for (let left = times; left > 0; left--)
      await store.update<number>('count', (before = 0) => before + 1);
    expect((await ended)[0]).toBe(0);
    expect(await store.get('count')).toBe(2 * times);
  });

  it('is kept as it is, also a text that the journal would take out of a message (extensions-that-act §2.7)', async () => {
    const path = newPath();
    const journal = await openJournal(path, { secrets: ['hunter2'] });
    const store = openStore('acme', { values: journal.keyValues, now: () => Date.now() });
    await store.set('password', 'hunter2');
    expect(await store.get('password')).toBe('hunter2');
    expect(statSync(path).mode & 0o077).toBe(0);
    await journal.close();
  });

  it('drops values that have expired when the journal drops old rows, without a write (extensions-that-act §2.4)', async () => {
    const path = newPath();
    const clock = virtualClock();
    const first = await openJournal(path, { clock });
    const store = openStore('acme', { values: first.keyValues, now: () => clock.now() });
    for (let at = 0; at < 120; at++) await store.set(`key ${at}`, at, { ttlMs: 1_000 });
    await store.set('stays', 'x');
    await first.close();
    await clock.advance(1_000);
    const second = await openJournal(path, { clock });
    await expect
      .poll(() => second.keyValues.namespaces())
      .toEqual([{ namespace: 'acme', keys: 1, bytes: 8 }]);
    await second.close();
  });

  it('is read past a damaged row, and counted anew by a repair (extensions-that-act §2.5, durability §1.12)', async () => {
    const path = newPath();
    const journal = await openJournal(path);
    const store = openStore('acme', { values: journal.keyValues, now: () => Date.now(), quota });
    await store.set('good', 'x');
    await store.set('bad', 'x');
    await journal.close();
    const database = openSqlite(path);
    database.exec(`UPDATE key_values SET body = '"y"' WHERE key = 'bad'`);
    database.close();
    const problems: string[] = [];
    const reader = await readJournal(path, { onDamaged: ({ problem }) => problems.push(problem) });
    expect(await reader.keyValues.list('acme', { prefix: '', limit: 9 })).toMatchObject([
      { key: 'good' },
    ]);
    expect(problems).toContain('body: its sum does not fit');
    await reader.close();
    expect(await repairJournal(path, 'now', new AbortController().signal)).toMatchObject({
      status: 'repaired',
      moved: 1,
    });
    const repaired = await readJournal(path);
    expect(await repaired.keyValues.namespaces()).toEqual([
      { namespace: 'acme', keys: 1, bytes: 7 },
    ]);
    await repaired.close();
  });
});
