import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readJournal } from '../../../src/journal/index.js';
import { compiled } from '../../support/compiled.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const program = fileURLToPath(new URL('../fixtures/joining-host.ts', import.meta.url));
const texts = ['one', 'two', 'three'];

/** Starts a host, and hears it until it is killed. */
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

const rounds = Number(process.env['JOIN_RUNS'] ?? 2);

it.each(Array.from({ length: rounds }, (_, round) => round))(
  'a host that is killed while messages join, or when their turn has begun, answers all of them by the next: round %i (durability §10.5)',
  async (round) => {
    using folder = temporaryFolder();
    const path = join(folder.path, 'sluice.db');
    const file = join(folder.path, 'turns.txt');
    await live(path, file, (told, child) => {
      if (told === 'ready') for (const text of texts) child.send(text);
      if (told === 'ready' && round % 2 === 0)
        setTimeout(() => child.kill('SIGKILL'), 20 + (round % 60));
      if (told === 'begun') child.kill('SIGKILL');
    });
    await live(path, file, (told, child) => {
      if (told === 'ready') for (const text of texts) child.send(text); // the provider brings them again
      if (told === 'idle') child.kill('SIGKILL');
    });
    const prompts = [...new Set(readFileSync(file, 'utf8').trim().split('\n'))];
    const told = prompts.map((line) => String(JSON.parse(line)));
    expect(told.flatMap((prompt) => prompt.split('\n\n'))).toEqual(texts);
    const reader = await readJournal(path);
    try {
      const all = await reader.updates({ limit: 10 });
      expect(all.map(({ updateId }) => updateId)).toEqual(texts);
      expect(all.filter(({ outcome }) => outcome === 'answered')).toHaveLength(told.length);
      expect(all.filter(({ outcome }) => outcome === 'joined')).toHaveLength(3 - told.length);
    } finally {
      await reader.close();
    }
  },
);
