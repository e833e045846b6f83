import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readJournal } from '../../src/journal/index.js';
import { compiled } from '../support/compiled.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const program = await compiled(fileURLToPath(new URL('schedule-host.mjs', import.meta.url)));
const rounds = Number(process.env['ACTS_RUNS'] ?? 20); // ten or more: each end comes
const everyMs = { quick: 1_000, slow: 2_000, rare: 5_000 };

/** Starts a host that ends at a point, or is killed some milliseconds after its start. @returns how it ended. */
async function live(path: string, log: string, point: string, nth: number): Promise<unknown> {
  const told = point === 'time' ? [] : [point, String(nth)];
  const host = fork(program, [path, log, ...told], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const gone = once(host, 'exit');
  await Promise.race([once(host, 'message'), gone]);
  const timer = setTimeout(() => host.kill('SIGKILL'), point === 'time' ? nth : 60_000);
  const [code, signal] = await gone;
  clearTimeout(timer);
  return signal ?? code;
}

const below = (limit: number): number => 1 + Math.floor(Math.random() * limit);

/** The end of each host of a round: at a point of its runs, at a call of its journal, or at any moment. */
const ends = [
  () => ['begin', below(20)],
  () => ['before', below(200)],
  () => ['end', below(20)],
  () => ['after', below(200)],
  () => ['time', below(500)],
] as const;

/** Kills hosts on one journal, one after the other. @returns what their runs have written. */
async function killed(path: string, log: string, kills: number): Promise<readonly string[]> {
  for (let round = 0; round < kills; round++) {
    const [point, nth] = ends[round % ends.length]?.() ?? ['time', 0];
    expect(await live(path, log, String(point), Number(nth)), `${point} ${nth}`).toBe('SIGKILL');
  }
  expect(await live(path, log, 'never', 0)).toBe(0);
  return readFileSync(log, 'utf8').trim().split('\n');
}

/** Says what is wrong with the runs of a schedule: each is begun until it ends, and no other meanwhile. */
function wrongOf(lines: readonly (readonly string[])[]): readonly string[] {
  let open: readonly string[] | undefined;
  const wrong: string[] = [];
  for (const line of lines) {
    const [told, , due, attempt = ''] = line;
    const isAgain = open?.[2] === due;
    if (told === 'end' ? !isAgain : open?.[0] === 'begin' && !isAgain) wrong.push(line.join(' '));
    if (told === 'begin' && isAgain && !(Number(attempt) > Number(open?.[3] ?? 1)))
      wrong.push(`${line.join(' ')} is not a later attempt`);
    // an end that was not kept lets its run come again
    open = told === 'end' ? ['end', '', due ?? '', open?.[3] ?? ''] : line;
  }
  return wrong;
}

it(`hosts that are killed run each due time of their schedules once (extensions-that-act §4.8, §6.2, §6.3, §6.7, ${rounds} rounds)`, {
  timeout: 60_000 + rounds * 10_000,
}, async () => {
  using folder = temporaryFolder();
  const half = Math.ceil(rounds / 2);
  const besides = [half, rounds - half].map(async (kills, at) => {
    const path = join(folder.path, `${at}.db`);
    const lines = await killed(path, join(folder.path, `${at}.log`), kills);
    const reader = await readJournal(path);
    try {
      const sends = await reader.sends({ limit: 1_000_000 });
      return { lines, sends, updates: await reader.updates({ limit: 1_000_000 }) };
    } finally {
      await reader.close();
    }
  });
  const killedAt = new Set<string>();
  for (const { lines, updates, sends } of await Promise.all(besides)) {
    expect(updates.filter(({ state }) => state !== 'ended')).toEqual([]);
    for (const line of lines) if (line.startsWith('killed')) killedAt.add(line);
    for (const [name, stepMs] of Object.entries(everyMs)) {
      const dues = updates
        .filter(({ accountId }) => accountId === `schedule:ticker/${name}`)
        .map(({ updateId = '' }) => Date.parse(updateId))
        .sort();
      // no time between the first and the last is left out, or there twice
      const [first = 0] = dues;
      expect(dues).toEqual(dues.map((_, at) => first + at * stepMs));
      const runs = lines.map((line) => line.split(' ')).filter((words) => words[1] === name);
      expect(wrongOf(runs)).toEqual([]);
      const ended = runs.filter(([told]) => told === 'end').map(([, , due]) => Number(due));
      expect([...new Set(ended)]).toEqual(dues);
    }
    // what its runs have added: each time is taken in once, and each message is one send
    const words = lines.map((line) => line.split(' '));
    const lastMs = Number(words.findLast(([told]) => told === 'at')?.[1]);
    const added = words.filter(([told, name]) => told === 'end' && name === 'slow');
    const come = [...new Set(added.map(([, , due]) => Number(due)))].filter(
      (due) => due + 2_000 < lastMs,
    );
    expect(come.length).toBeGreaterThan(0);
    const later = words.filter(([told, name]) => told === 'end' && name === 'later');
    expect(later.map(([, , due]) => Number(due))).toEqual(expect.arrayContaining(come));
    const ofLater = updates.filter(({ accountId }) => accountId === 'schedule:ticker/later');
    const ids = ofLater.map(({ updateId }) => updateId);
    expect(new Set(ids).size).toBe(ids.length);
    const said = sends.map(({ body }) => JSON.parse(body).content);
    expect(new Set(said).size).toBe(said.length);
    expect(said).toEqual(expect.arrayContaining(come.map((due) => `m${due}`)));
  }
  expect([...killedAt].sort()).toEqual([
    'killed after',
    'killed before',
    'killed begin',
    'killed end',
  ]);
});
