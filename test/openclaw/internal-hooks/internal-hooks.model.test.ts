import fc from 'fast-check';
import { expect, it } from 'vitest';
import { internalHookModel } from '../../support/internal-hook-model.js';
import {
  bridgedBus,
  internalHookSequences,
  internalTranscript,
} from '../../support/internal-hook-sequences.js';

const seed = 20_260_315;

it(`the internal hook bus does what its model does, in generated sequences (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(internalHookSequences, async (sequence) => {
      const expected = await internalTranscript(internalHookModel(), sequence);
      expect(await internalTranscript(bridgedBus(), sequence)).toEqual(expected);
    }),
    { seed, numRuns: 300 },
  );
});
