import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { legacyHookNames } from '../../../src/openclaw/index.js';
import { openclawHookRunner } from '../../../src/openclaw/parity/index.js';
import { openClawPackage } from '../../support/openclaw-package.js';
import { everyRow } from '../model/rows.js';
import { compareSet, rowsOf, Tally } from './compare.js';
import { setsOf } from './generate.js';
import { observe, Rejections } from './observe.js';
import { Pipeline } from './pipeline.js';

const least = 2_000;
const asked = Number(process.env['PARITY_SETS'] ?? least);
const sets = process.env['CI'] ? Math.max(least, asked) : asked;
const seed = Number(process.env['PARITY_SEED'] ?? Date.now() % 1_000_000);
const { root, absent } = await openClawPackage();
const tallies = new Map<string, Tally>();

describe.skipIf(root === undefined)(`against the real runner, seed ${seed}`, () => {
  it.each(legacyHookNames['2026.3'])(
    '%s: every set ends, calls and tells as there, but for what a row names',
    async (hook) => {
      const makeReal = await openclawHookRunner(root ?? '');
      const tally = new Tally();
      tallies.set(hook, tally);
      using rejections = new Rejections();
      const pipeline = new Pipeline(rejections);
      const property = fc.asyncProperty(setsOf(hook), async (set) => {
        const real = await observe(set, makeReal, rejections);
        const ours = await pipeline.observe(set);
        await compareSet(set, real, ours, tally);
      });
      await fc.assert(property, { numRuns: sets, seed });
      expect(tally.sets).toBe(sets);
      expect(rowsOf(hook)).toEqual(expect.arrayContaining([...tally.decisive.keys()]));
    },
  );

  // fewer sets need not come across every one
  it.skipIf(sets < least)('needs every row that there is', () => {
    const decisive = new Set([...tallies.values()].flatMap((tally) => [...tally.decisive.keys()]));
    expect(everyRow.filter((row) => !decisive.has(row))).toEqual([]);
  });

  afterAll(() => {
    for (const [hook, tally] of tallies) {
      const rows = [...tally.decisive].map(([row, times]) => `${row} ${times}`);
      console.log(`${hook}: ${tally.sets} sets compared; ${rows.join(', ') || 'no difference'}`);
    }
  });
});

if (absent !== undefined) console.warn(`The plugin hooks were not compared. ${absent}`);
