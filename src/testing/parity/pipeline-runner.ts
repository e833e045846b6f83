import type { Kernel } from '../../kernel/index.js';
import { createLegacyHookRunner, registerLegacyHook } from '../../legacy/index.js';
import type { MakeLegacyRunner } from './parity-run.js';

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
): MakeLegacyRunner {
  return ({ typedHooks }, options) => {
    for (const hook of typedHooks)
      registerLegacyHook(kernel, hook, { trusted: isTrusted(hook.pluginId) });
    return createLegacyHookRunner(kernel, options);
  };
}
