import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readJournal } from '../../src/host/index.js';
import { bundled } from '../support/compiled.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const program = await bundled(fileURLToPath(new URL('schedule-host.mjs', import.meta.url)));
const rounds = Number(process.env['ACTS_RUNS'] ?? 5);

/** Starts a host, and kills it as long after its start as is said, or when something is so. */
async function live(until: number | (() => boolean), path: string, log: string): Promise<void> {
  const host = fork(program, [path, log], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const gone = once(host, 'exit');
  await Promise.race([once(host, 'message'), gone]);
  if (typeof until === 'number') await wait(until);
  else while (!until()) await wait(100);
  host.kill('SIGKILL');
  await gone;
}

/** Tells whether the last run that ended was due a moment ago. */
function isUpToDate(log: string): boolean {
  const [, due] =
    /^end (\d+)$/m.exec(readFileSync(log, 'utf8').split('\n').slice(-6).join('\n')) ?? [];
  return Date.now() - Number(due ?? 0) < 3_000;
}

it(`hosts that are killed run each second of a schedule once (extensions-that-act §6.2, §6.3, ${rounds} rounds)`, {
  timeout: 60_000 + rounds * 10_000,
}, async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'sluice.db');
  const log = join(folder.path, 'runs.log');
  for (let round = 1; round <= rounds; round++) {
    await live(Math.random() * 2_500, path, log);
    // hosts that live shorter than they start fall behind, and what is missed by more than a minute is left out
    if (round % 5 === 0) await live(() => isUpToDate(log), path, log);
  }
  const endsIn = (text: string): number =>
    text.split('\n').filter((line) => line.startsWith('end')).length;
  const openIn = async () => {
    const reader = await readJournal(path);
    try {
      return await reader.updates({ limit: 1_000_000 });
    } finally {
      await reader.close();
    }
  };
  // the last hosts bring what is open to its end: the one run that is under way may be begun anew by each
  await live(20_000, path, log);
  const updates = await openIn();
  const open = updates.filter(({ state }) => state !== 'ended');
  const lines = readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
  const dues = updates.map(({ updateId = '' }) => Date.parse(updateId)).sort();
  expect(new Set(dues).size).toBe(dues.length);
  expect(open.length).toBeLessThanOrEqual(1);
  expect(endsIn(readFileSync(log, 'utf8'))).toBeGreaterThan(rounds);
  // no second between the first and the last is left out: the hosts were away for less than a minute
  const first = dues[0] ?? 0;
  expect(dues).toEqual(dues.map((_, at) => first + at * 1_000));
  // each has ended, and no other was begun before it had
  const ended = new Set(lines.filter(([what]) => what === 'end').map(([, due]) => Number(due)));
  expect(dues.filter((due) => !ended.has(due)).length).toBeLessThanOrEqual(1);
  let current: string | undefined;
  for (const [what, due = '', attempt] of lines) {
    if (what === 'end') current = undefined;
    else {
      expect(current === undefined || current === due).toBe(true);
      if (current !== undefined) expect(Number(attempt)).toBeGreaterThan(1);
      current = due;
    }
  }
});
