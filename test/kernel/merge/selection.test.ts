import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { beats, type Standing } from '../../../src/kernel/merge/selection.js';

const valid: fc.Arbitrary<Standing> = fc.record({
  explicit: fc.boolean(),
  rank: fc.integer({ min: -3, max: 3 }),
});
const standing: fc.Arbitrary<Standing> = fc.oneof(
  valid,
  valid.map((one) => ({ ...one, invalid: 'no' })),
);

/** The winner of a list, as resolving chooses it: one after the other, in run order. */
function winner(candidates: readonly Standing[]): Standing | undefined {
  let best: Standing | undefined;
  for (const candidate of candidates) if (beats(candidate, best)) best = candidate;
  return best;
}

describe('between two candidates', () => {
  it.each([
    [
      'explicit beats a higher rank',
      { explicit: true, rank: -9 },
      { explicit: false, rank: 9 },
      true,
    ],
    [
      'inferred does not beat explicit',
      { explicit: false, rank: 9 },
      { explicit: true, rank: -9 },
      false,
    ],
    ['the higher rank wins', { explicit: false, rank: 1 }, { explicit: false, rank: 0 }, true],
    ['the lower rank loses', { explicit: true, rank: 0 }, { explicit: true, rank: 1 }, false],
    [
      'among equals the earlier stands',
      { explicit: true, rank: 1 },
      { explicit: true, rank: 1 },
      false,
    ],
  ])('%s (§9.1)', (_, candidate, best, wins) => {
    expect(beats(candidate, best)).toBe(wins);
  });

  it('an invalid one beats nothing, not even nobody (§9.2)', () => {
    fc.assert(
      fc.property(valid, fc.option(valid, { nil: undefined }), (one, best) => {
        expect(beats({ ...one, invalid: 'no' }, best)).toBe(false);
      }),
    );
  });

  it('a valid one beats nobody (§9.1)', () => {
    fc.assert(fc.property(valid, (one) => beats(one, undefined)));
  });
});

describe('among many candidates', () => {
  it('the winner is the first of the explicit ones, or of all, with the highest rank (§9.1, §9.2)', () => {
    fc.assert(
      fc.property(fc.array(standing), (candidates) => {
        const able = candidates.filter((one) => one.invalid === undefined);
        const explicit = able.filter((one) => one.explicit);
        const pool = explicit.length > 0 ? explicit : able;
        const top = Math.max(...pool.map((one) => one.rank));
        expect(winner(candidates)).toBe(pool.find((one) => one.rank === top));
      }),
    );
  });
});
