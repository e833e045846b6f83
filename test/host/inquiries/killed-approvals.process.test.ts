import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { compiled } from '../../support/compiled.js';
import { fewAtATime, killedAt, killRounds, readLeft } from '../../support/killed-host.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { approvalHost, type approvalPoints } from '../fixtures/approval-host.js';

const program = await compiled(
  fileURLToPath(new URL('../fixtures/approval-host.ts', import.meta.url)),
);
const rounds = Number(process.env['ACTS_RUNS'] ?? 20);

/** What a host leaves that dies there, and what comes of it. */
interface Expected {
  /** The state of the question. */
  readonly state: string;
  /** The times that the tool had run by then, and in the end. */
  readonly ran: readonly [before: number, after: number];
  /** The questions that the next host asks. */
  readonly asksAnew: number;
  /** The new question says that the action may have happened. */
  readonly mayHaveRun?: boolean;
}

/** A question that a host has left. */
interface Left {
  readonly id: string;
  readonly state: string;
  /** It is not with its channel: the next host asks it. */
  readonly isUnsent?: boolean;
}

const expected: Readonly<Record<(typeof approvalPoints)[number], Expected>> = {
  kept: { state: 'pending', ran: [0, 1], asksAnew: 1 },
  asked: { state: 'pending', ran: [0, 1], asksAnew: 0 },
  allowed: { state: 'allowed', ran: [0, 1], asksAnew: 0 },
  denied: { state: 'denied', ran: [0, 0], asksAnew: 0 },
  used: { state: 'used', ran: [0, 1], asksAnew: 1, mayHaveRun: true },
  begun: { state: 'used', ran: [1, 2], asksAnew: 1, mayHaveRun: true },
  ended: { state: 'used', ran: [1, 2], asksAnew: 1, mayHaveRun: true },
  recorded: { state: 'used', ran: [1, 2], asksAnew: 1 },
};

const linesOf = (file: string): number =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
const points = Object.keys(expected) as (keyof typeof expected)[]; // its own keys

it.each(killRounds(points, rounds))(
  'a host that is killed at the point "%s" runs no tool without an answer, and none twice for one (judgement §4.14, judgement §4.21)',
  async (point, own) => {
    const figures = new Map<string, number>();
    await fewAtATime(own, 3, async ({ how }) => {
      using folder = temporaryFolder();
      const path = join(folder.path, 'sluice.db');
      const file = join(folder.path, 'ran.txt');
      await killedAt(program, path, file, point, how);
      const { rows } = await readLeft<Left>(path, '/approvals/');
      const [{ id, state, isUnsent = false } = { id: '', state: 'gone' }]: readonly Left[] = rows;
      const before = linesOf(file);
      expect(rows.length).toBeLessThanOrEqual(1);
      // `used` is on the disk before the tool runs
      if (state !== 'used' && state !== 'gone') expect(before).toBe(0);
      const answer = point === 'denied' ? 'deny' : 'allow';
      const next = await approvalHost({ path, file, answer });
      // its provider brings again what it has brought: a host that was killed late may have asked after all
      if (!isUnsent) await next.press(id);
      while (!(await next.isIdle())) await wait(5);
      const asked = next.questions().map(({ content }) => content);
      await next.stop();
      const after = linesOf(file);
      const left = await readLeft(path, '/approvals/');
      expect(left.rows).toEqual([]);
      expect(left.updates.filter((update) => update.state !== 'ended')).toEqual([]);
      expect(left.updates.find(({ updateId }) => updateId === 'v1')?.outcome).toBe('answered');
      if (point === 'denied') expect(after).toBe(0);
      else {
        expect(after).toBeGreaterThanOrEqual(1);
        expect(after).toBeLessThanOrEqual(1 + asked.length); // each answer was good for one
      }
      if (how === 'there') {
        const { ran, asksAnew, mayHaveRun = false, ...of } = expected[point];
        expect({ state, ran: [before, after] }).toEqual({ ...of, ran });
        expect(asked).toHaveLength(asksAnew);
        for (const content of asked)
          expect(content.includes('may have happened already')).toBe(mayHaveRun);
      }
      const figure = `${how}: ${state}, the tool ran ${before} and ${after} times`;
      figures.set(figure, (figures.get(figure) ?? 0) + 1);
    });
    if (process.env['ACTS_RUNS'] !== undefined) console.info(point, Object.fromEntries(figures));
  },
  60_000 + rounds * 2_000,
);
