import { inspect } from 'node:util';
import { type ConformanceCheck, createTestKernel } from '@sluice/testing';
import { definedFields, isFields } from 'sluice-kernel/internal';
import type { LegacyProfile } from '../profiles/index.js';
import { compareRuns } from './compare-parity.js';
import type { ParityDifference } from './differences.js';
import { leftOutOf } from './left-out.js';
import {
  type AnyParityStep,
  type MakeLegacyRunner,
  type ParityHandler,
  type ParityRun,
  recordParityRun,
} from './parity-run.js';
import { pipelineRunner } from './pipeline-runner.js';
import { plainCopy } from './plain-copy.js';

/** A suite over calls of hooks that you have recorded. */
export interface ParitySuite<P extends LegacyProfile = '2026.3'> {
  /** By names of your own: calls `{ hook, event, ctx }`, as a file of JSON has them. Those of one name go to one runner, in their order. */
  readonly recording: Readonly<Record<string, unknown>>;
  /** The two sides; the second is Sluice's own by default. What differs is told as `legacy` of the first and `pipeline` of the second. */
  readonly runners: readonly [MakeLegacyRunner, MakeLegacyRunner?];
  /** The release whose hooks Sluice's own runner has; `2026.3` by default. */
  readonly profile?: P;
  /** The handlers, which are made for each side of each name. */
  readonly handlers: () => readonly ParityHandler<never, P>[];
  /** The differences that you know, by names of your own. Each must be met by the recording. */
  readonly known?: Readonly<Record<string, (difference: ParityDifference) => boolean>>;
  /** A call that no handler is called for fails its check. */
  readonly complete?: boolean;
}

/**
 * Makes checks for any test runner: each name of a recording, through two runners. A check fails with the differences that nobody has
 * named; the last one, with a name that no difference bears. One whose calls reach no handler says so in `skipped`.
 *
 * @throws TypeError (as a rejection of a check) if a call of the recording is none, or a runner has no method for its hook.
 * @example
 * for (const { name, run } of paritySuite({ recording, runners, handlers })) it(name, run);
 */
export function paritySuite<P extends LegacyProfile = '2026.3'>({
  recording,
  runners,
  handlers,
  profile,
  known = {},
  complete = false,
}: ParitySuite<P>): readonly ConformanceCheck[] {
  const ours: MakeLegacyRunner = (registry, options) =>
    pipelineRunner(
      createTestKernel().kernel,
      undefined,
      definedFields({ profile }),
    )(registry, options);
  const met = new Set<string>();
  const isUnknown = (difference: ParityDifference): boolean => {
    const names = Object.entries(known).flatMap(([name, is]) => (is(difference) ? [name] : []));
    for (const name of names) met.add(name);
    return names.length === 0;
  };
  const started: Promise<void>[] = [];
  const start = (run: () => Promise<void>): Promise<void> => {
    const running = run();
    started.push(running);
    return running;
  };
  const checks = Object.entries(recording).map(([name, calls]) => {
    const check: ConformanceCheck & { skipped?: string } = {
      name: `${name}: both runners do the same`,
      run: () => start(compare),
    };
    const compare = async (): Promise<void> => {
      const sides: ParityRun[] = [];
      for (const runner of [runners[0], runners[1] ?? ours])
        sides.push(await recorded(runner, name, calls, handlers()));
      const [one, other] = sides;
      const left = one && other ? compareRuns(one, other).filter(isUnknown) : [];
      const lines = left.map(
        ({ path, legacy, pipeline }) => `${path}: ${inspect(legacy)} and ${inspect(pipeline)}`,
      );
      if (lines.length > 0) throw new Error(`${name} differs:\n${lines.join('\n')}`);
      const leftOut = one === undefined ? '' : leftOutOf(one).join('; ');
      if (complete && leftOut !== '') throw new Error(`${name} was left out: ${leftOut}`);
      if (leftOut !== '') check.skipped = leftOut;
    };
    return check;
  });
  const last = async (): Promise<void> => {
    await Promise.allSettled(started); // also if a test runner does not wait for one before it starts the next
    const never = Object.keys(known).filter((name) => !met.has(name));
    if (never.length > 0)
      throw new Error(`no call of the recording differs by ${never.join(', ')}`);
  };
  return [...checks, { name: 'each known difference is met', run: last }];
}

function recorded(
  runner: MakeLegacyRunner,
  name: string,
  calls: unknown,
  handlers: readonly object[],
): Promise<ParityRun> {
  const [first, ...next] = [calls].flat().map((call, at) => {
    if (!isFields(call) || typeof call['hook'] !== 'string' || !isFields(call['event']))
      throw new TypeError(`call ${at} of "${name}" is no { hook, event, ctx }`);
    const { event, ctx = {} } = call;
    return { hook: call['hook'], ...plainCopy({ event, ctx }) } as AnyParityStep; // a runner without its method says so
  });
  if (first === undefined) throw new TypeError(`"${name}" has no call`);
  return recordParityRun(runner, { ...first, next, handlers: handlers as ParityHandler[] }); // of a hook that it has
}
