import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { legacyHookNames } from '../../../src/openclaw/index.js';
import { compareSet, rowsOf, Tally } from './compare.js';
import { setsOf } from './generate.js';
import { Rejections } from './observe.js';
import { Pipeline } from './pipeline.js';

const sets = 100;
const seed = Number(process.env['PARITY_SEED'] ?? 20_260_315);

describe(`the plugin-hook bridge against the model of the legacy runner, seed ${seed}`, () => {
  it.each(legacyHookNames['2026.3'])(
    'fault 27, %s: does what the model says of every set',
    async (hook) => {
      using rejections = new Rejections();
      const pipeline = new Pipeline(rejections);
      const tally = new Tally();
      const property = fc.asyncProperty(setsOf(hook), async (set) =>
        compareSet(set, undefined, await pipeline.observe(set), tally),
      );
      await fc.assert(property, { numRuns: sets, seed });
      expect(tally.sets).toBe(sets);
      expect(rowsOf(hook)).toEqual(expect.arrayContaining([...tally.decisive.keys()]));
    },
  );
});
