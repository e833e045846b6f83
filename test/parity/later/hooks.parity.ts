import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type LegacyDivergenceName,
  legacyDivergences,
  legacyHookNames,
} from '../../../src/legacy/index.js';
import { rowsOf } from '../../../src/legacy/profiles/index.js';
import {
  compareRuns,
  createTestKernel,
  type MakeLegacyRunner,
  type ParityDifference,
  parityDifferences,
  pipelineRunner,
} from '../../../src/testing/index.js';
import { type HookSet, untrustedPlugin } from '../hooks/hook-set.js';
import { type Observation, observe, Rejections } from '../hooks/observe.js';
import { realRunner9 } from './real-runner.js';
import { rules } from './rules.js';
import { type Hook9, setsOf9 } from './sets.js';

const least = 500;
const sets = Number(process.env['PARITY_SETS_2026_9'] ?? 8);
const seed = Number(process.env['PARITY_SEED'] ?? Date.now() % 1_000_000);
const makeReal = await realRunner9();
/** The rows without which a set that differed would have had no name. */
const decisive = new Set<LegacyDivergenceName>();
const counts = { compared: 0, unconcerned: 0 };
/** The hooks that a legacy runner of ours calls (event-pipeline §17.30). */
const called = legacyHookNames['2026.9'].filter(
  (hook) => rowsOf('2026.9')[hook]?.isHosted !== true,
);
const names = Object.keys(rules) as LegacyDivergenceName[];

describe.skipIf(makeReal === undefined)(
  `against the runner of OpenClaw 2026.9.6, seed ${seed}`,
  () => {
    it.each(called)(
      '%s: every set ends, calls and tells as there, but for what a row names',
      async (hook) => {
        using rejections = new Rejections();
        const property = fc.asyncProperty(setsOf9(hook), async (set) => {
          const found = differences(await ofReal(set, rejections), await ofOurs(set, rejections));
          const concerned = names.filter((name) => rules[name]?.(set) === true);
          counts.compared++;
          if (concerned.length === 0) {
            counts.unconcerned++;
            expect(found, 'a difference without a row').toEqual([]);
          }
          const [only, ...more] = concerned;
          if (found.length > 0 && only !== undefined && more.length === 0) {
            decisive.add(only);
            const row = legacyDivergences.find(({ name }) => name === only);
            expect(row?.profiles, only).toContain('2026.9');
            expect(row?.hooks, only).toContain(hook);
          }
        });
        await fc.assert(property, { numRuns: sets, seed });
      },
    );

    // fewer sets need not come across every one
    it.skipIf(sets < least)('needs every row that there is for the profile', () => {
      const rows = legacyDivergences.filter(({ profiles }) => profiles.includes('2026.9'));
      console.log(`${counts.compared} sets, ${counts.unconcerned} of which no row concerns`);
      expect(rows.map(({ name }) => name).filter((name) => !decisive.has(name))).toEqual([]);
      expect(names.filter((name) => !rows.some((row) => row.name === name))).toEqual([]);
    });
  },
);

/** A real timer of a few milliseconds is the shortest budget that a handler can have there. */
async function ofReal(set: HookSet<Hook9>, rejections: Rejections): Promise<Observation> {
  const isTimed = set.handlers.some(({ timing }) => timing === 'never');
  let rounds = isTimed ? 4 : 0;
  const unhang = async (): Promise<boolean> => {
    if (rounds-- <= 0) return false;
    await new Promise((over) => setTimeout(over, 3));
    return true;
  };
  return observe(set, makeReal as MakeLegacyRunner, rejections, unhang);
}

async function ofOurs(set: HookSet<Hook9>, rejections: Rejections): Promise<Observation> {
  const { kernel, clock } = createTestKernel({ validate: 'borders', trace: false });
  const isTrusted = (pluginId: string) => pluginId !== untrustedPlugin;
  const make = pipelineRunner(kernel, isTrusted, { profile: '2026.9', clock });
  // a loader leaves out what is refused
  const loaded: MakeLegacyRunner = ({ typedHooks }, options) =>
    make(
      { typedHooks: typedHooks.filter(({ priority = 0 }) => Number.isFinite(priority)) },
      options,
    );
  return observe(set, loaded, rejections, async () => {
    if (clock.pending === 0) return false;
    await clock.advance(16_000);
    return true;
  });
}

function differences(real: Observation, ours: Observation): ParityDifference[] {
  const besides = ({ counts: counted, unhandled }: Observation) => ({ counted, unhandled });
  return [
    ...compareRuns(plain(real), plain(ours)),
    ...parityDifferences(besides(real), besides(ours)),
  ];
}

/** Two functions are never the same: of the one in a context it counts that it is there. */
function plain(run: Observation): Observation {
  const calls = run.calls.map((call) => {
    const { hookInvocation, ...ctx } = call.ctx as Record<string, unknown>;
    return { ...call, ctx: { ...ctx, hookInvocation: typeof hookInvocation } };
  });
  return { ...run, calls };
}
