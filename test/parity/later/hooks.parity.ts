import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LegacyDivergenceName, legacyDivergences } from '../../../src/openclaw/index.js';
import {
  compareRuns,
  type MakeLegacyRunner,
  type ParityDifference,
  parityDifferences,
  pipelineRunner,
} from '../../../src/openclaw/parity/index.js';
import { rowsOf } from '../../../src/openclaw/profiles/index.js';
import { createTestKernel } from '../../../src/testing/index.js';
import { comparedBy } from '../../support/compared-hooks.js';
import { type HookSet, untrustedPlugin } from '../hooks/hook-set.js';
import { type Observation, observe, Rejections } from '../hooks/observe.js';
import { withoutItsWords } from '../hooks/pipeline.js';
import { itsWords } from '../model/failure.js';
import { realRunner9, unhangReal } from './real-runner.js';
import { asHere, type Rewritten } from './rewrite.js';
import { type Hook9, setsOf9 } from './sets.js';

const least = 500;
const sets = Number(process.env['PARITY_SETS_2026_9'] ?? 8);
const seed = Number(process.env['PARITY_SEED'] ?? 20_260_906);
const makeReal = await realRunner9();
/** The rows without which a set that differed would have had no name. */
const decisive = new Set<LegacyDivergenceName>();
const counts = { compared: 0, unconcerned: 0 };
/** The hooks that a legacy runner of ours calls (event-pipeline §17.30). */
const called = comparedBy('its method');
const atOnceRow = 'answers-at-once-share-a-tick';

describe.skipIf(makeReal === undefined)(
  `against the runner of OpenClaw 2026.9.6, seed ${seed}`,
  () => {
    it.each(called)(
      '%s: every set ends, calls and tells as there, but for what a row names',
      async (hook) => {
        using rejections = new Rejections();
        const property = fc.asyncProperty(setsOf9(hook), async (set) => {
          const rewritten = asHere(set);
          const { rows } = rewritten;
          const ours = await ofOurs(set, rejections);
          const asRewritten = placedAs(rewritten, await ofReal(rewritten.set, rejections));
          const { run, lines } = asTold(rewritten, asRewritten, ours);
          const found = differences(compared(run, rows, lines), compared(ours, rows));
          expect(found, rows.join()).toEqual([]);
          expect(atOnce(ours), 'calls at once').toEqual(mayBeAtOnce(ours, set));
          const real = rows.length === 0 ? asRewritten : await ofReal(set, rejections);
          const raw = differences(real, ours);
          const shared = raw.some(({ path }) => path.endsWith('.isAtOnce'));
          const names: readonly LegacyDivergenceName[] = shared ? [...rows, atOnceRow] : rows;
          counts.compared++;
          if (names.length === 0) counts.unconcerned++;
          const [only, ...more] = names;
          if (raw.length === 0 || only === undefined || more.length > 0) return;
          decisive.add(only);
          const row = legacyDivergences.find(({ name }) => name === only);
          expect(row?.profiles, only).toContain('2026.9');
          expect(row?.hooks, only).toContain(hook);
        });
        await fc.assert(property, { numRuns: sets, seed });
      },
    );

    // fewer sets need not come across every one
    it.skipIf(sets < least)('needs every row that there is for the profile', () => {
      const rows = legacyDivergences.filter(
        ({ profiles, hooks }) =>
          profiles.includes('2026.9') && hooks.some((hook) => called.some((one) => one === hook)),
      );
      console.log(`${counts.compared} sets, ${counts.unconcerned} of which no row concerns`);
      expect(rows.map(({ name }) => name).filter((name) => !decisive.has(name))).toEqual([]);
    });
  },
);

async function ofReal(set: HookSet<string>, rejections: Rejections): Promise<Observation> {
  return observe(set, makeReal as MakeLegacyRunner, rejections, unhangReal(set));
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

/** The run with the places that the handlers have in the set itself. */
function placedAs({ indices }: Rewritten, run: Observation): Observation {
  const at = (place: number): number => indices[place] ?? place;
  return {
    ...run,
    calls: run.calls.map((call) => ({ ...call, handler: at(call.handler) })),
    order: run.order.map((line) =>
      line.replace(/^call (\d+)$/, (_, place: string) => `call ${at(Number(place))}`),
    ),
  };
}

/** How the runner tells of a handler that it has cut, and the bridge of a question that it refuses. */
const inWords = /( failed: )(?:timed out after 3ms|its question has no title)$/;

/**
 * The run without the things that are predicted by themselves: calls at once, and the cause of an error that is thrown in other words.
 * The lines in which a stage says that it refused or cut something are apart, sorted: it may tell them later than the runner.
 */
function compared(run: Observation, rows: readonly string[], further: readonly string[] = []) {
  const calls = run.calls.map((call) => ({ ...call, isAtOnce: false }));
  if (rows.length === 0) return { ...run, calls, words: [] };
  const plainly = (text: string): string => text.replace(inWords, `$1${itsWords}`);
  const { ending, log, order } = { ...run, ...withoutItsWords(run) };
  const texts = log.map(({ level, text }) => ({ level, text: plainly(text) }));
  const isOwn = (text: string): boolean => text.endsWith(itsWords);
  return {
    ...run,
    calls,
    ending:
      ending.kind === 'threw'
        ? { ...ending, message: plainly(ending.message), cause: undefined }
        : ending,
    log: texts.filter(({ text }) => !isOwn(text)),
    order: order.filter((line) => !isOwn(plainly(line))),
    words: [...texts.map(({ text }) => text).filter(isOwn), ...further].toSorted(),
  };
}

interface Told {
  readonly run: Observation;
  readonly lines: readonly string[];
}

/** The real run as it ends here: a refused part of an answer is told, or thrown at the end where errors are thrown on. */
function asTold({ told, set }: Rewritten, real: Observation, ours: Observation): Told {
  const lines = told
    .filter(({ handler }) => ours.calls.some((call) => call.handler === handler))
    .map(({ pluginId }) => `[hooks] ${set.hook} handler from ${pluginId} failed: ${itsWords}`);
  const isLoud = !set.catchErrors || rowsOf('2026.9')[set.hook]?.isClosed === true;
  const [first] = lines;
  if (!isLoud || first === undefined) return { run: real, lines };
  const { ending } = real;
  const isLater = ending.kind === 'threw' && ending.message.endsWith(itsWords); // the first one is thrown
  if (isLater) return { run: { ...real, ending: { ...ending, message: first } }, lines: [] };
  if (ending.kind !== 'returned') return { run: real, lines: [] };
  return {
    run: {
      ...real,
      ending: { kind: 'threw', message: first, cause: undefined },
      order: real.order
        .filter((line) => !line.startsWith('out came '))
        .map((line) => (line === 'returned' ? 'threw' : line)),
    },
    lines: [],
  };
}

const atOnce = ({ calls }: Observation): readonly boolean[] =>
  calls.map(({ isAtOnce }) => isAtOnce);

/** A call is in the caller's stack if all before it have answered there (answers-at-once-share-a-tick). */
function mayBeAtOnce({ calls }: Observation, set: HookSet<Hook9>): readonly boolean[] {
  const kind = rowsOf('2026.9')[set.hook]?.kind;
  let isAtOnce = true;
  return calls.map(({ handler }) => {
    const now = isAtOnce;
    if (kind === 'modifying' || kind === 'claim')
      isAtOnce &&= set.handlers[handler]?.timing === 'now';
    return now;
  });
}

function differences(real: Observation, ours: Observation): ParityDifference[] {
  const besides = ({ counts: counted, unhandled, ...run }: Observation) => ({
    ...{ counted, unhandled },
    ...('words' in run && { words: run.words }),
  });
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
