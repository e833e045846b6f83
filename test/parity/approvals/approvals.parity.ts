import { describe, expect, it } from 'vitest';
import { openClawRegions } from '../../support/openclaw-regions.js';
import { divergences, same } from './rows.js';
import { type ApprovalCase, type ApprovalRun, ourSide, realSide } from './sides.js';

const regions = await openClawRegions({ fetch: true });

describe.skipIf(regions === undefined)('requireApproval beside OpenClaw 2026.9.6', () => {
  const both = async (given: ApprovalCase): Promise<readonly [ApprovalRun, ApprovalRun]> => {
    if (regions === undefined) throw new Error('it is skipped');
    return [await (await realSide(regions))(given), await ourSide(given)];
  };

  it.each(Object.entries(same))(
    '%s: both ask the same, decide the same and tell the plugin the same (judgement §4.13)',
    async (_, given) => {
      const [real, ours] = await both(given);
      expect(ours).toEqual(real);
    },
  );

  it.each(Object.entries(divergences))(
    '%s: differs in exactly this (judgement §4.13)',
    async (_, row) => {
      const [real, ours] = await both(row.given);
      expect(differing(real, ours)).toEqual([row.real, row.ours]);
    },
  );
});

/** The fields in which two runs differ, of each. */
function differing(real: ApprovalRun, ours: ApprovalRun): readonly [object, object] {
  const keys = (['asked', 'ran', 'resolutions'] as const).filter(
    (key) => JSON.stringify(real[key]) !== JSON.stringify(ours[key]),
  );
  const pick = (run: ApprovalRun) => Object.fromEntries(keys.map((key) => [key, run[key]]));
  return [pick(real), pick(ours)];
}
