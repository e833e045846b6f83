import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readJournal } from '../../../src/host/index.js';
import { compiled } from '../../support/compiled.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const program = fileURLToPath(new URL('../fixtures/asking-host.ts', import.meta.url));

/** Starts a host, and lets a test talk to it until it has killed it. */
async function live(
  path: string,
  file: string,
  hear: (told: string, child: ChildProcess) => void,
): Promise<void> {
  const child = fork(await compiled(program), [path, file], {
    execArgv: [],
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  child.on('message', (told) => hear(String(told), child));
  await once(child, 'exit');
}

const rounds = Number(process.env['ACTS_RUNS'] ?? 2);

it.each(Array.from({ length: rounds }, (_, round) => round))(
  'a host that is killed between question and answer loses no answer, and counts it once: round %i (extensions-that-act §7.6)',
  async (round) => {
    using folder = temporaryFolder();
    const path = join(folder.path, 'sluice.db');
    const file = join(folder.path, 'ends.txt');
    await live(path, file, (told, child) => {
      if (told === 'ready') child.send('ask');
      if (told !== 'asked') return;
      if (round % 2 === 1) child.send('yes'); // it is killed while it takes the answer
      setTimeout(() => child.kill('SIGKILL'), round % 20);
    });
    await live(path, file, (told, child) => {
      if (told === 'ready') child.send('yes'); // the provider brings it again
      if (told === 'idle') child.kill('SIGKILL');
    });
    const ends = readFileSync(file, 'utf8').trim().split('\n');
    expect(new Set(ends).size).toBe(1);
    expect(ends[0]).toMatch(/ Yes build 7$/);
    const reader = await readJournal(path);
    try {
      const all = await reader.updates({ limit: 10 });
      expect(all.map(({ channel }) => channel).sort()).toEqual(['fake', 'sluice']);
      expect(all.find(({ channel }) => channel === 'fake')?.updateId).toBe('yes');
    } finally {
      await reader.close();
    }
  },
  60_000,
);
