import { describe, expect, it } from 'vitest';
import { compareRuns } from '../../src/testing/index.js';
import { openClawPackage } from '../support/openclaw-package.js';
import { divergences } from './divergences.js';
import { observe, Rejections } from './hooks/observe.js';
import { Pipeline } from './hooks/pipeline.js';
import { realRunner } from './hooks/real-runner.js';

const { root } = await openClawPackage();

describe.skipIf(root === undefined)('the example of a divergence, run by the real runner', () => {
  it.each(Object.entries(divergences))(
    '%s: differs from it in exactly what the example says',
    async (_, { set, differences, unhandled = [] }) => {
      using rejections = new Rejections();
      const makeReal = await realRunner(root ?? '');
      const real = await observe(set, makeReal, rejections);
      const ours = await new Pipeline(rejections).observe(set);
      expect(compareRuns(real, ours)).toEqual(differences);
      expect([real.unhandled, ours.unhandled]).toEqual([unhandled, []]);
    },
  );
});
