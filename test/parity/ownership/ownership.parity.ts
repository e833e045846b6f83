import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openClawPackage } from '../../support/openclaw-package.js';
import { compareSides, type RowTally } from './compare.js';
import { generatedRows } from './improvements.js';
import { scriptedNetwork } from './network.js';
import { botUserId, replies, sequences, ttlMs } from './sequence.js';
import { playLegacy, playNative } from './sides.js';

const least = 1_500;
const asked = Number(process.env['PARITY_SEQUENCES'] ?? least);
const numRuns = process.env['CI'] ? Math.max(least, asked) : asked;
const seed = Number(process.env['PARITY_SEED'] ?? Date.now() % 1_000_000);
const { root, absent } = await openClawPackage();
const tally: RowTally = new Map();
let sends = 0;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_773_532_800_000 });
  vi.stubEnv('SLACK_BOT_USER_ID', botUserId);
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe.skipIf(root === undefined)(
  `thread-ownership: the plugin on the bridge and the extension, seed ${seed}`,
  () => {
    it('send, cancel and ask the same in every sequence, but for what a row names', async () => {
      const plugin: unknown = await import(
        /* @vite-ignore */ join(root ?? '', 'extensions/thread-ownership/index.ts')
      );
      const [first = expect.fail()] = replies;
      const network = scriptedNetwork(first);
      const property = fc.asyncProperty(sequences, async (sequence) => {
        vi.setSystemTime(Date.now() + 2 * ttlMs); // the plugin keeps its mentions from one sequence to the next
        const legacy = await playLegacy(plugin, sequence, network);
        const native = await playNative(sequence, network);
        compareSides(sequence, legacy, native, tally);
        sends += native.filter((facts) => facts !== undefined).length;
      });
      await fc.assert(property, { numRuns, seed });
    });

    // fewer sequences need not come across every one
    it.skipIf(numRuns < least)('need every row that there is', () => {
      const needed = Object.keys(generatedRows);
      expect([...tally.keys()].sort()).toEqual(needed.sort());
    });

    afterAll(() => {
      const rows = [...tally].map(([row, times]) => `${row} ${times}`).join(', ');
      console.log(`thread-ownership: ${numRuns} sequences, ${sends} sends compared; ${rows}`);
    });
  },
);

if (absent !== undefined) console.warn(`thread-ownership was not compared. ${absent}`);
