import type { Clock, Kernel } from 'sluice-kernel';
import type { LegacyProfile } from '../profiles/index.js';
import { createLegacyHookRunner } from '../runner/hook-runner.js';
import { registerLegacyHook } from '../runner/register-hook.js';
import type { MakeLegacyRunner } from './parity-run.js';

/** How the handlers of a pipeline runner are registered. */
export interface PipelineRunnerOptions {
  /** The release whose runner it is; `2026.3` by default. */
  readonly profile?: LegacyProfile;
  /** Times the handlers that have a budget of their own. */
  readonly clock?: Clock;
}

/**
 * A runner whose handlers are registered on the canonical stages of a kernel. Its plugins are trusted, but for those
 * that `isTrusted` says no to.
 *
 * @example
 * const run = await recordParityRun(pipelineRunner(kernel, (pluginId) => pluginId !== 'guest'), scenario);
 */
export function pipelineRunner(
  kernel: Kernel,
  isTrusted: (pluginId: string) => boolean = () => true,
  { profile = '2026.3', ...more }: PipelineRunnerOptions = {},
): MakeLegacyRunner {
  return ({ typedHooks }, options) => {
    for (const hook of typedHooks)
      registerLegacyHook<never, LegacyProfile>(kernel, hook as never, {
        trusted: isTrusted(hook.pluginId),
        profile,
        ...more,
      }); // a scenario names hooks of its profile
    return createLegacyHookRunner(kernel, { ...options, profile });
  };
}
