import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { compiled } from '../../support/compiled.js';
import { fewAtATime, killedAt, killRounds, readLeft } from '../../support/killed-host.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { askingHost } from '../fixtures/asking-host.js';

const program = await compiled(
  fileURLToPath(new URL('../fixtures/asking-host.ts', import.meta.url)),
);
const rounds = Number(process.env['ACTS_RUNS'] ?? 20);

/**
 * The points at which a host dies, and the times that the handler was called by then and in the end. The row is dropped while the
 * job is run.
 */
const points = {
  kept: [0, 1],
  asked: [0, 1],
  answered: [0, 1],
  handled: [1, 2],
  dropped: undefined,
} as const;

const endsIn = (file: string): readonly string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];

it.each(killRounds(Object.keys(points) as (keyof typeof points)[], rounds))(
  'a host that is killed at the point "%s" loses no answer, and counts it once (extensions-that-act §7.6)',
  async (point, own) => {
    const figures = new Map<string, number>();
    await fewAtATime(own, 3, async ({ how }) => {
      using folder = temporaryFolder();
      const path = join(folder.path, 'sluice.db');
      const file = join(folder.path, 'ends.txt');
      await killedAt(program, path, file, point, how);
      const before = endsIn(file);
      const { rows } = await readLeft(path, '/questions/');
      const next = await askingHost({ path, file });
      await next.say(); // its provider brings it again
      while (!(await next.isIdle())) await wait(5);
      await next.stop();
      const ends = endsIn(file);
      expect(new Set(ends).size).toBe(1);
      expect(ends[0]).toMatch(/ Yes build 7$/);
      const { updates, rows: left } = await readLeft(path, '/questions/');
      expect(left).toEqual([]);
      expect(updates.map(({ channel }) => channel).sort()).toEqual(['fake', 'sluice']);
      expect(updates.find(({ channel }) => channel === 'fake')).toMatchObject({
        ...{ updateId: 'yes', outcome: 'answer' },
      });
      const calls = points[point];
      if (how === 'there' && calls !== undefined)
        expect([before.length, ends.length]).toEqual(calls);
      const figure = `${how}: ${rows.length} rows, handled ${before.length} and ${ends.length} times`;
      figures.set(figure, (figures.get(figure) ?? 0) + 1);
    });
    if (process.env['ACTS_RUNS'] !== undefined) console.info(point, Object.fromEntries(figures));
  },
  60_000 + rounds * 2_000,
);
