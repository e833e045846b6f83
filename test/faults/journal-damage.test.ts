import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { compiled } from '../support/compiled.js';
import type { Round } from '../support/journal-damage.js';

/** How many damages: some hundred as a rule, 10,000 before a release. */
const rounds = Number(process.env['DAMAGE_ROUNDS'] ?? 240);
const roundsOfProcess = Math.min(rounds, 500);
const child = fileURLToPath(new URL('./fixtures/damage-rounds.ts', import.meta.url));

interface Batch {
  readonly rounds: readonly Round[];
  /** How the process ended, and the seed that it was at, where that was not as it should. */
  readonly ended: string;
  readonly stderr: string;
}

/** Damages in a process of their own, so that an abort of it is seen. */
async function damage(first: number, count: number): Promise<Batch> {
  const args = [await compiled(child), String(first), String(count)];
  const running = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  running.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const how = new Promise<string>((resolve) => {
    running.on('close', (code, signal) => resolve(String(signal ?? code)));
  });
  const done: Round[] = [];
  let begun = -1;
  for await (const line of createInterface({ input: running.stdout })) {
    const said = JSON.parse(line) as Round | { readonly begins: number };
    if ('begins' in said) begun = said.begins;
    else done.push(said);
  }
  const ended = await how;
  return { rounds: done, ended: ended === '0' ? ended : `${ended} at seed ${begun}`, stderr };
}

function counted(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

describe('random damage to the files of a journal (faults 34 and 35, child processes)', () => {
  it(`H1: in ${rounds} of them no process aborts, and no wrong row is given out as good (durability §1.6)`, {
    timeout: 300_000 + rounds * 3_000,
  }, async () => {
    const all: Round[] = [];
    for (let first = 0; first < rounds; first += roundsOfProcess) {
      const count = Math.min(roundsOfProcess, rounds - first);
      const batch = await damage(first, count);
      expect(batch.ended, batch.stderr).toBe('0');
      expect(batch.rounds).toHaveLength(count);
      all.push(...batch.rounds);
    }
    expect(all.filter(({ faults }) => faults.length > 0)).toEqual([]);
    const opened = counted(all.map((round) => round.opened));
    const repaired = all.filter(({ repair }) => repair === 'repaired');
    const tried = all.filter(({ repair }) => repair !== 'not tried');
    const sum = (of: (round: Round) => number) =>
      repaired.reduce((one, round) => one + of(round), 0);
    if (rounds > 1_000)
      console.info(
        JSON.stringify({
          opened,
          repair: counted(all.map(({ repair }) => repair)),
          kept: sum(({ kept }) => kept),
          of: sum((round) => round.of),
        }),
      );
    // the damage is real, and most of it is in places that matter
    expect(opened['database-damaged'] ?? 0).toBeGreaterThan(rounds / 5);
    expect(opened['as it was'] ?? 0).toBeGreaterThan(rounds / 10);
    const known = [
      'as it was',
      'without its last transaction',
      'database-damaged',
      'not-a-journal',
    ];
    expect(Object.keys(opened).filter((one) => !known.includes(one))).toEqual([]);
    expect(repaired.length).toBeGreaterThan(tried.length / 2);
    const refused = tried.filter((round) => !repaired.includes(round));
    expect(refused.filter(({ repair }) => repair !== 'journal-not-repaired')).toEqual([]);
  });
});
