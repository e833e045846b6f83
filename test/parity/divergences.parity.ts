import { describe, expect, it } from 'vitest';
import { compareRuns, openclawHookRunner } from '../../src/openclaw/parity/index.js';
import { openClawPackage } from '../support/openclaw-package.js';
import { divergences } from './divergences.js';
import { namedDifferences } from './hooks/compare.js';
import { observe, Rejections } from './hooks/observe.js';
import { Pipeline } from './hooks/pipeline.js';

const { root } = await openClawPackage();

describe.skipIf(root === undefined)('the example of a divergence, run by the real runner', () => {
  it.each(Object.entries(divergences))(
    '%s: differs from it in exactly what the example says',
    async (name, { set, differences, unhandled = [] }) => {
      using rejections = new Rejections();
      const makeReal = await openclawHookRunner(root ?? '');
      const real = await observe(set, makeReal, rejections);
      const ours = await new Pipeline(rejections).observe(set);
      expect(compareRuns(real, ours)).toEqual(differences);
      const rows = (await namedDifferences(set, real, ours)).map(({ row }) => row);
      expect(rows).toEqual(differences.map(() => name));
      expect([real.unhandled, ours.unhandled]).toEqual([unhandled, []]);
    },
  );
});
