import type { Outcome } from '../../../../src/kernel/internal.js';
import { createLegacyHookRunner, type LegacyPlugin } from '../../../../src/openclaw/index.js';
import type { TrialJob } from './found.js';
import type { Trial } from './trial.js';

type Run = (event: unknown, ctx: unknown) => unknown;

/** Calls each hook of a plugin once, as OpenClaw's runner would. It works if its handlers were called and none failed. */
export async function callHooks(
  trial: Trial,
  plugin: LegacyPlugin,
  inputs: TrialJob['hooks'],
  outcomes: readonly Outcome[],
): Promise<void> {
  const runner = createLegacyHookRunner(plugin.kernel) as unknown as Readonly<Record<string, Run>>; // by name
  for (const hook of new Set(plugin.hooks.map(({ hookName }) => hookName))) {
    const input = inputs[hook];
    const method = `run${hook.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}`;
    await trial.ends(`hook ${hook}`, async () => {
      const run = runner[method];
      if (input === undefined || run === undefined) return 'not tried: needs an event';
      const before = outcomes.length;
      await run(input.event, input.ctx);
      const steps = outcomes
        .slice(before)
        .flatMap(({ steps = [] }) => steps)
        .filter(({ extensionId }) => extensionId === plugin.pluginId);
      const failed = steps.find(({ result }) => result === 'failed');
      if (failed !== undefined) return `fails: ${failed.why ?? ''}`;
      if (steps.every(({ result }) => result === 'skipped')) return 'fails: no handler was called';
      return 'works';
    });
  }
}
