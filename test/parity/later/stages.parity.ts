import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openKernel } from '../../../src/kernel/internal.js';
import {
  type LegacyDivergenceName,
  legacyDivergences,
  registerLegacyHook,
} from '../../../src/openclaw/index.js';
import { type MakeLegacyRunner, parityDifferences } from '../../../src/openclaw/parity/index.js';
import { createTestKernel } from '../../../src/testing/index.js';
import { comparedBy } from '../../support/compared-hooks.js';
import { type Fields, untrustedPlugin } from '../hooks/hook-set.js';
import { type Observation, observe, Rejections } from '../hooks/observe.js';
import { realRunner9, unhangReal } from './real-runner.js';
import { asHere, type Rewritten } from './rewrite.js';
import { type StageSet, stageHooks, stageSetsOf } from './stage-sets.js';

const least = 500;
const sets = Number(process.env['PARITY_SETS_2026_9'] ?? 8);
const seed = Number(process.env['PARITY_SEED'] ?? 20_260_906);
const profile = '2026.9';
const makeReal = await realRunner9();
const hooks = comparedBy('its stage');
/** The rows without which a set that differed would have had no name. */
const decisive = new Set<LegacyDivergenceName>();

/** Everything of a run that both sides have: a host has its own words in its log. */
interface Seen {
  readonly calls: readonly unknown[];
  readonly end: unknown;
  /** The plugins of the handlers that failed, or of whose answers something was refused. */
  readonly failed: readonly string[];
}

describe.skipIf(makeReal === undefined)(
  `on the stage of a host, against the runner of OpenClaw 2026.9.6, seed ${seed}`,
  () => {
    it('has all hooks that share a stage (event-pipeline §17.30)', () => {
      expect(Object.keys(stageHooks).sort()).toEqual([...hooks].sort());
    });

    it.each(hooks)(
      '%s: every set calls, ends and fails as there, but for what a row names',
      async (hook) => {
        using rejections = new Rejections();
        const property = fc.asyncProperty(stageSetsOf(hook), async (given) => {
          const rewritten = asHere(given.set);
          const { rows } = rewritten;
          const ours = await ofOurs(given, rejections);
          expect(asTold(rewritten, await ofReal(rewritten, rejections), ours), rows.join()).toEqual(
            ours,
          );
          if (rows.length === 0) return;
          const plainly = { ...asHere({ ...given.set, handlers: [] }), set: given.set };
          const raw = parityDifferences(await ofReal(plainly, rejections), ours);
          const [only, ...more] = rows;
          if (raw.length === 0 || only === undefined || more.length > 0) return;
          decisive.add(only);
          const row = legacyDivergences.find(({ name }) => name === only);
          expect(row?.profiles, only).toContain(profile);
          expect(row?.hooks, only).toContain(hook);
        });
        await fc.assert(property, { numRuns: sets, seed });
      },
    );

    // fewer sets need not come across every one
    it.skipIf(sets < least)('needs every row that concerns these hooks alone', () => {
      const isOurs = (hook: string): boolean => hooks.some((one) => one === hook);
      const rows = legacyDivergences.filter(({ hooks: concerned }) => concerned.every(isOurs));
      expect(rows.map(({ name }) => name).filter((name) => !decisive.has(name))).toEqual([]);
    });
  },
);

/** Neither side is asked for counts: only a runner of ours has them. */
const uncounted = { hasHooks: () => false, getHookCount: () => 0 };

function methodOf(hook: string): string {
  return `run${hook.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}`;
}

async function ofReal({ set, indices }: Rewritten, rejections: Rejections): Promise<Seen> {
  const method = methodOf(set.hook);
  const make: MakeLegacyRunner = (registry, options) => {
    const real = (makeReal as MakeLegacyRunner)(registry, options) as Readonly<
      Record<string, (event: Fields, ctx: Fields) => Promise<unknown>>
    >; // the real one has the method
    const call = async (event: Fields, ctx: Fields) =>
      stageHooks[set.hook]?.there?.(Object(await real[method]?.(event, ctx)) as Fields, set.event);
    return { ...uncounted, [method]: call };
  };
  const run = await observe(set, make, rejections, unhangReal(set));
  const failed = run.log.flatMap(
    ({ text }) => / handler from (\S+) failed: /.exec(text)?.[1] ?? [],
  );
  return seenOf(run, failed, (place) => indices[place] ?? place);
}

async function ofOurs({ set, payload }: StageSet, rejections: Rejections): Promise<Seen> {
  const { kernel, clock, failures } = createTestKernel({ validate: 'borders', trace: false });
  const { hook } = set;
  const make: MakeLegacyRunner = ({ typedHooks }) => {
    // a loader leaves out what is refused
    for (const one of typedHooks.filter(({ priority = 0 }) => Number.isFinite(priority)))
      registerLegacyHook<never, typeof profile>(kernel, one as never, {
        ...{ profile, clock, trusted: one.pluginId !== untrustedPlugin },
      });
    const dispatch = async () => {
      const { family, here } = stageHooks[hook] ?? {};
      return here?.(await openKernel(kernel).dispatch(String(family), payload));
    };
    return { ...uncounted, [methodOf(hook)]: dispatch };
  };
  const run = await observe(set, make, rejections, async () => {
    if (clock.pending === 0) return false;
    await clock.advance(16_000);
    return true;
  });
  const failed = failures
    .filter(({ kind }) => kind !== 'not-run')
    .map(({ extensionId }) => extensionId);
  return seenOf(
    run,
    failed.filter((one) => one !== undefined), // without that of the stage, which nobody answers
  );
}

function seenOf(
  run: Observation,
  failed: readonly string[],
  placed = (place: number) => place,
): Seen {
  const { ending, calls } = run;
  return {
    calls: calls.map(({ handler, event, ctx }) => ({ handler: placed(handler), event, ctx })),
    end: ending.kind === 'returned' ? ending.value : ending,
    failed: failed.toSorted(),
  };
}

/** The real run as it fails here: a refused part of an answer is a failure of its handler. */
function asTold({ told }: Rewritten, real: Seen, { calls }: Seen): Seen {
  const isCalled = (handler: number): boolean =>
    calls.some((call) => (call as { readonly handler: number }).handler === handler);
  const refused = told.filter(({ handler }) => isCalled(handler)).map(({ pluginId }) => pluginId);
  return { ...real, failed: [...real.failed, ...refused].toSorted() };
}
