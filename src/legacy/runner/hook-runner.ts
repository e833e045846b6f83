import type { Kernel } from '../../kernel/index.js';
import { sameFact } from '../facts/same-fact.js';
import {
  type LegacyContext,
  type LegacyEvent,
  type LegacyHookName,
  type LegacyHooks,
  type LegacyResult,
  legacyHookNames,
  pluginHooks,
} from '../hooks/index.js';
import { HookRun } from './hook-run.js';
import type { LegacyHookRunnerOptions } from './hook-runner-options.js';

type Run<H extends LegacyHookName> = (
  event: LegacyEvent<H>,
  ctx: LegacyContext<H>,
) => LegacyHooks[H]['kind'] extends 'sync'
  ? LegacyResult<H> | undefined
  : Promise<LegacyResult<H> | undefined>;

/** `before_tool_call` -> `BeforeToolCall`. */
type Pascal<Name extends string> = Name extends `${infer Word}_${infer Rest}`
  ? `${Capitalize<Word>}${Pascal<Rest>}`
  : Capitalize<Name>;

type Runs = { [H in LegacyHookName as `run${Pascal<H>}`]: Run<H> };

/**
 * OpenClaw's hook runner, as hosts call it: its 26 methods, on the canonical stages. Each hook has a method that is
 * named after it: `runBeforeToolCall(event, ctx)` runs `before_tool_call`. Those of the two hooks that write the
 * transcript give their result at once, the others a promise. `runBeforeAgentStart` runs the `before_agent_start`
 * handlers alone: the other handlers of both stages run with their own hooks.
 */
export interface LegacyHookRunner extends Runs {
  /** Tells whether a call of this hook would reach a handler: a legacy one, or a canonical one of its stages. */
  hasHooks(hook: LegacyHookName): boolean;
  /** How many handlers a call of this hook would reach. */
  getHookCount(hook: LegacyHookName): number;
}

/**
 * The legacy runner for hosts that still call it: same methods, same arguments, same results, running on the canonical
 * stages, so that legacy and canonical handlers share one order and one outcome. What differs is listed, by name, in
 * `legacyDivergences`.
 *
 * A malformed event is told to `logger.error` and runs nobody; with `catchErrors: false` it is thrown.
 *
 * @example
 * const runner = createLegacyHookRunner(kernel, { logger });
 * const result = await runner.runMessageSending({ to: 'C1', content: 'hi' }, { channelId: 'slack' });
 * if (result?.cancel) return;
 *
 * @throws SluiceError `bad-option` where no kernel is given.
 */
export function createLegacyHookRunner(
  kernel: Kernel,
  options: LegacyHookRunnerOptions = {},
): LegacyHookRunner {
  const runner = new HookRun(kernel, options);
  sameFact(kernel).attach('plugin-hooks'); // agent events then leave it what its hooks can answer
  const methods: Record<string, unknown> = {
    hasHooks: (hook: LegacyHookName) => runner.count(hook) > 0,
    getHookCount: (hook: LegacyHookName) => runner.count(hook),
  };
  for (const hook of legacyHookNames)
    methods[methodOf(hook)] =
      pluginHooks[hook].kind === 'sync'
        ? (event: LegacyEvent, ctx: LegacyContext) => runner.runSync(hook, event, ctx)
        : (event: LegacyEvent, ctx: LegacyContext) => runner.run(hook, event, ctx);
  return methods as unknown as LegacyHookRunner; // a method for each row of the table, named after it
}

/** `before_tool_call` -> `runBeforeToolCall`. */
function methodOf(hook: LegacyHookName): string {
  return `run${hook.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}`;
}
