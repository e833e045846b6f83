import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { readJournal, type UpdateRecord } from '../../../src/journal/index.js';
import { compiled } from '../../support/compiled.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const program = fileURLToPath(new URL('../fixtures/mortal-host.ts', import.meta.url));
const innocent = Array.from({ length: 20 }, (_, at) => `m-${at}`);

/** Starts a host, and hands messages in. It is ended by what it handles, by the signal, or when nothing is left to do. */
async function live(
  path: string,
  texts: readonly string[],
  kill?: { readonly signal: 'SIGKILL' | 'SIGTERM'; readonly afterMs: number },
): Promise<'died' | 'idle'> {
  const child: ChildProcess = fork(await compiled(program), [path, `${texts.length}`], {
    execArgv: [],
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  let isIdle = false;
  child.on('message', (told) => {
    if (told === 'ready') {
      for (const text of texts) child.send(text, () => undefined); // what it handles may have ended it by now
      if (kill !== undefined) setTimeout(() => child.kill(kill.signal), kill.afterMs);
    }
    if (told === 'idle' && kill === undefined) {
      isIdle = true;
      child.kill('SIGKILL');
    }
  });
  await once(child, 'exit');
  return isIdle ? 'idle' : 'died';
}

async function updatesOf(path: string): Promise<readonly UpdateRecord[]> {
  const reader = await readJournal(path);
  try {
    return await reader.updates({ limit: 10_000 });
  } finally {
    await reader.close();
  }
}

it('H2: a message that aborts the process is the only dead letter among 20 others, also after a storm of deployments (durability §7.7)', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'sluice.db');
  await live(path, [...innocent.slice(0, 10), 'poison', ...innocent.slice(10)]);
  for (let nth = 0; nth < 4; nth++)
    await live(path, [`fresh-${nth}`], {
      signal: nth % 2 === 0 ? 'SIGKILL' : 'SIGTERM',
      afterMs: 15 + 25 * nth,
    });
  let deaths = 0;
  while ((await live(path, [])) === 'died') if (++deaths > 10) throw new Error('it never ends');
  const updates = await updatesOf(path);
  expect(updates.filter(({ state }) => state === 'dead').map(({ updateId }) => updateId)).toEqual([
    'poison',
  ]);
  const answered = updates.filter(({ outcome }) => outcome === 'answered');
  expect(answered.map(({ updateId }) => updateId)).toEqual(expect.arrayContaining(innocent));
  expect(updates.every(({ state }) => state === 'dead' || state === 'ended')).toBe(true);
});

it('H2: a host whose input has ended waits for the last attempt of a message before it ends (durability §7.7)', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'sluice.db');
  const host = fileURLToPath(new URL('../fixtures/ended-input-host.ts', import.meta.url));
  const args = [await compiled(host), path];
  const { stdout } = await promisify(execFile)(process.execPath, args); // it exits with 0
  expect(stdout).toBe('hello\n');
  expect(await updatesOf(path)).toMatchObject([{ state: 'ended', attempts: 3 }]);
});
