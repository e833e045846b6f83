import type { Kernel } from '../../kernel/index.js';
import { createLegacyHookRunner, type LegacyHookName } from '../../legacy/index.js';
import { createTestKernel } from '../test-kernel.js';
import { type ParityDifference, parityDifferences } from './differences.js';
import {
  type MakeLegacyRunner,
  type ParityRun,
  type ParityScenario,
  recordParityRun,
} from './parity-run.js';
import { pipelineRunner } from './pipeline-runner.js';
import { plainCopy } from './plain-copy.js';

/** A scenario, with the two sides that it runs through. */
export interface ParityOptions<H extends LegacyHookName> extends ParityScenario<H> {
  /** OpenClaw's `createHookRunner`, or anything like it; by default Sluice's own runner, on a kernel of its own,. */
  readonly legacyRunner?: MakeLegacyRunner;
  /**
   * Sets up the pipeline: contributes what takes the place of the handlers, such as those of an extension. By default
   * the pipeline gets the scenario's own handlers. Their calls and the log are compared only then.
   */
  readonly pipeline?: (kernel: Kernel) => void;
}

/** The comparison of two runs of one scenario. */
export interface ParityReport {
  readonly equal: boolean;
  /** The differences, field by field. */
  readonly differences: readonly ParityDifference[];
  readonly legacy: ParityRun;
  readonly pipeline: ParityRun;
}

/**
 * Runs one scenario through a legacy runner and through the pipeline, and reports the differences by field: of the result
 * or the error, of the host's event and context afterwards and, if both sides have the same handlers, of their calls
 * and of the lines that the runners wrote. Each side gets a copy of the event.
 *
 * @throws TypeError if the legacy runner has no method for the hook.
 * @example
 * const report = await compareParity({
 *   hook: 'message_sending',
 *   event: { to: 'C1', content: 'hi ' }, ctx: { channelId: 'slack' },
 *   handlers: [{ pluginId: 'acme', handler: (event) => ({ content: event.content.trim() }) }],
 *   pipeline: (kernel) => kernel.contribute({
 *     family: 'egress.preparing', class: 'mutator', extensionId: 'acme', id: 'trim',
 *     handler: ({ payload }) => ({ content: payload.content.trim() }),
 *   }),
 * });
 * expect(report.differences).toEqual([]);
 */
export async function compareParity<H extends LegacyHookName>(
  options: ParityOptions<H>,
): Promise<ParityReport> {
  const { legacyRunner, pipeline, ...scenario } = options;
  const copied = () => ({ event: plainCopy(scenario.event), ctx: plainCopy(scenario.ctx) });
  const makeLegacy = legacyRunner ?? pipelineRunner(createTestKernel().kernel);
  const legacy = await recordParityRun(makeLegacy, { ...scenario, ...copied() });
  const ours = await recordParityRun(pipelineOf(pipeline), { ...scenario, ...copied() });
  const differences = compareRuns(legacy, ours, pipeline === undefined);
  return { equal: differences.length === 0, differences, legacy, pipeline: ours };
}

function pipelineOf(setUp: ParityOptions<LegacyHookName>['pipeline']): MakeLegacyRunner {
  const { kernel } = createTestKernel();
  if (setUp === undefined) return pipelineRunner(kernel);
  return (_, options) => {
    setUp(kernel);
    return createLegacyHookRunner(kernel, options);
  };
}

/**
 * Lists the differences of two runs. Paths begin with `result`, `thrown`, `event`, `ctx`, `calls`, `log` or `order`.
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

function seen({ ending, event, ctx, calls, log, order }: ParityRun, sameHandlers: boolean) {
  return {
    ...(ending.kind === 'returned' && { result: ending.value }),
    ...(ending.kind === 'threw' && { thrown: { message: ending.message, cause: ending.cause } }),
    ...(ending.kind === 'pending' && { pending: true }),
    event,
    ctx,
    ...(sameHandlers && { calls, log, order }),
  };
}
