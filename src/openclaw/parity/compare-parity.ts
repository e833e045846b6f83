import { createTestKernel } from '@sluice/testing';
import { definedFields, type Kernel } from 'sluice-kernel/internal';
import type { LegacyDivergenceName } from '../mapping/divergences.js';
import type { LegacyHookName, LegacyProfile } from '../profiles/index.js';
import { createLegacyHookRunner } from '../runner/hook-runner.js';
import { type ParityDifference, parityDifferences } from './differences.js';
import { answersOf, type ComparedStep, divergenceOf } from './divergence-of.js';
import { leftOutOf } from './left-out.js';
import {
  type MakeLegacyRunner,
  type ParityHandler,
  type ParityRun,
  type ParityScenario,
  recordParityRun,
} from './parity-run.js';
import { pipelineRunner } from './pipeline-runner.js';
import { plainCopy } from './plain-copy.js';
import { type ParityPlugin, pluginHandlers } from './plugin-handlers.js';
import type { ParityWatch } from './watches.js';

/** A scenario, with the two sides that it runs through. */
export interface ParityOptions<H extends string, P extends LegacyProfile = '2026.3'>
  extends Omit<ParityScenario<H, P>, 'handlers'>,
    Partial<Omit<ParityPlugin, 'profile'>> {
  /** The release whose hooks are compared; `2026.3` by default. */
  readonly profile?: P;
  /** The handlers of both sides, unless `plugin` brings them. */
  readonly handlers?: readonly ParityHandler<H, P>[];
  /** OpenClaw's runner (`openclawHookRunner`), or anything like it; by default Sluice's own, on a kernel of its own. */
  readonly legacyRunner?: MakeLegacyRunner;
  /**
   * Sets up the pipeline: contributes what takes the place of the handlers, such as those of an extension. By default
   * the pipeline gets the scenario's own handlers. Their calls and the log are compared only then.
   */
  readonly pipeline?: (kernel: Kernel) => unknown;
  /** Rows of `legacyDivergences`: a difference that one of them explains is listed in `allowed`. */
  readonly allow?: readonly LegacyDivergenceName[];
  /** Watches what each side does outside of its results, by a name of your own: `{ files: watchFolder(folder) }`. */
  readonly watch?: Readonly<Record<string, ParityWatch>>;
  /** Is awaited before the watches of a side end: for work that goes on when the runner's method has ended. */
  readonly settle?: () => Promise<unknown>;
  /** A part that is left out makes the report unequal. */
  readonly complete?: boolean;
}

/** The comparison of two runs of one scenario. */
export interface ParityReport {
  readonly equal: boolean;
  /** The parts that were not compared, in words: no handler was called, say. */
  readonly leftOut: readonly string[];
  /** The differences, field by field. */
  readonly differences: readonly ParityDifference[];
  /** The differences whose row the options allow. */
  readonly allowed: readonly ParityDifference[];
  readonly legacy: ParityRun;
  readonly pipeline: ParityRun;
}

/**
 * Runs one scenario through a legacy runner and through the pipeline, and reports the differences by field: of the result
 * or the error, of the host's event and context afterwards, of what the watches saw and, if both sides have the same
 * handlers, of their calls and of the lines that the runners and the plugin wrote. Each difference names the row of
 * `legacyDivergences` that explains it. Each side gets a copy of the event, and an instance of the plugin.
 *
 * @throws TypeError if the legacy runner has no method for the hook, or there are neither handlers nor a plugin.
 * @throws SluiceError (as a rejection) if the plugin cannot be loaded or set up.
 * @example
 * const report = await compareParity({
 *   hook: 'message_sending',
 *   event: { to: 'C1', content: 'hi ' }, ctx: { channelId: 'slack' },
 *   plugin: './acme', legacyRunner: await openclawHookRunner('./node_modules/openclaw'),
 *   allow: ['answers-at-once-share-a-tick'],
 * });
 * expect(report.differences).toEqual([]);
 */
export async function compareParity<
  H extends LegacyHookName<P>,
  P extends LegacyProfile = '2026.3',
>(options: ParityOptions<H, P>): Promise<ParityReport> {
  const { legacyRunner, pipeline: setUp, allow = [], profile = '2026.3' } = options;
  const theirs = await sideOf(options, legacyRunner ?? (await pipelineOf(undefined, profile)));
  const ours = await sideOf(options, await pipelineOf(setUp, profile));
  const sameHandlers = setUp === undefined;
  const steps = await stepsOf(options, theirs, ours.run);
  const found = compareRuns(theirs.run, ours.run, sameHandlers).map((difference) => ({
    ...difference,
    ...definedFields({ row: divergenceOf(difference, steps, profile) }),
  }));
  const isAllowed = ({ row }: ParityDifference): boolean =>
    row !== undefined && allow.includes(row);
  const differences = found.filter((one) => !isAllowed(one));
  const leftOut = [
    ...leftOutOf(theirs.run),
    ...(sameHandlers
      ? []
      : ['the calls, the log and their order: the pipeline has other handlers']),
  ];
  return {
    equal: differences.length === 0 && (options.complete !== true || leftOut.length === 0),
    differences,
    leftOut,
    allowed: found.filter(isAllowed),
    legacy: theirs.run,
    pipeline: ours.run,
  };
}

interface Side {
  readonly run: ParityRun;
  readonly handlers: ComparedStep['handlers'];
}

/** Runs one side, with copies of the events and an instance of the plugin of its own. */
async function sideOf<H extends LegacyHookName<P>, P extends LegacyProfile>(
  options: ParityOptions<H, P>,
  makeRunner: MakeLegacyRunner,
): Promise<Side> {
  const { plugin, handlers: given, watch = {}, settle, next = [] } = options;
  if (plugin === undefined && given === undefined)
    throw new TypeError('A scenario needs handlers, or a plugin.');
  await using loaded =
    plugin === undefined ? undefined : await pluginHandlers({ ...options, plugin });
  const handlers = (loaded?.handlers ?? given ?? []) as readonly ParityHandler<H, P>[]; // a plugin's are for any hook
  const copied = {
    event: plainCopy(options.event),
    ctx: plainCopy(options.ctx),
    next: next.map((step) => plainCopy(step)),
  };
  const ends = Object.entries(watch).map(([name, begin]) => [name, begin()] as const);
  let effects: Readonly<Record<string, unknown>> = {};
  let run: ParityRun;
  try {
    run = await recordParityRun(makeRunner, { ...options, handlers, ...copied });
    await settle?.();
  } finally {
    effects = Object.fromEntries(ends.map(([name, end]) => [name, end()]));
  }
  return {
    run: { ...run, effects, ...(loaded !== undefined && { said: loaded.said }) },
    handlers,
  };
}

/** Pairs the calls of both sides, with the answers of the legacy side. */
async function stepsOf(
  { hook, next = [] }: { readonly hook: string; readonly next?: readonly { hook: string }[] },
  { run, handlers }: Side,
  ours: ParityRun,
): Promise<readonly ComparedStep[]> {
  const of = (side: ParityRun): readonly ParityRun[] => [side, ...(side.next ?? [])];
  const hooks = [hook, ...next.map((step) => step.hook)];
  return Promise.all(
    of(run).map(async (legacy, at): Promise<ComparedStep> => {
      const own = hooks[at] ?? hook;
      return {
        hook: own,
        handlers: handlers.filter((handler) => (handler.hook ?? hook) === own),
        legacy,
        pipeline: of(ours)[at] ?? legacy,
        answers: await answersOf(legacy),
      };
    }),
  );
}

async function pipelineOf(
  setUp: ParityOptions<LegacyHookName>['pipeline'],
  profile: LegacyProfile,
): Promise<MakeLegacyRunner> {
  const { kernel } = createTestKernel();
  if (setUp === undefined) return pipelineRunner(kernel, undefined, { profile });
  await setUp(kernel);
  return (_, options) => createLegacyHookRunner(kernel, { ...options, profile });
}

/**
 * Lists the differences of two runs. Paths begin with `result`, `thrown`, `event`, `ctx`, `effects`, `calls`, `log`, `order` or
 * `said`, after `next[0].` for a further call.
 *
 * @param sameHandlers compares the calls, the log and the order, too.
 * @example
 * const [theirs, ours] = [await recordParityRun(legacy, scenario), await recordParityRun(pipelineRunner(kernel), scenario)];
 * expect(compareRuns(theirs, ours)).toEqual([]);
 */
export function compareRuns(
  legacy: ParityRun,
  pipeline: ParityRun,
  sameHandlers = true,
): ParityDifference[] {
  const sides = [legacy, pipeline].map((run) => seen(run, sameHandlers));
  return parityDifferences(sides[0], sides[1]);
}

function seen(run: ParityRun, sameHandlers: boolean): object {
  const { ending, event, ctx, calls, log, order, said, effects, next } = run;
  return {
    ...(ending.kind === 'returned' && { result: ending.value }),
    ...(ending.kind === 'threw' && { thrown: { message: ending.message, cause: ending.cause } }),
    ...(ending.kind === 'pending' && { pending: true }),
    event,
    ctx,
    ...(sameHandlers && { calls, log, order, said }),
    effects,
    next: next?.map((step) => seen(step, sameHandlers)),
  };
}
