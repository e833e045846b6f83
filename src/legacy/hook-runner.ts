import type { Kernel } from '../kernel/index.js';
import { HookRun } from './hook-run.js';
import type { LegacyHookRunnerOptions } from './hook-runner-options.js';
import { legacyHookNames, pluginHooks } from './hooks/index.js';
import type { LegacyContext, LegacyEvent, LegacyHookName, LegacyResult } from './hooks/shapes.js';
import { sameFact } from './same-fact.js';

type Run<H extends LegacyHookName> = (
  event: LegacyEvent<H>,
  ctx: LegacyContext<H>,
) => Promise<LegacyResult<H> | undefined>;

type RunSync<H extends LegacyHookName> = (
  event: LegacyEvent<H>,
  ctx: LegacyContext<H>,
) => LegacyResult<H> | undefined;

/** OpenClaw's hook runner, as hosts call it: its 26 methods, on the canonical stages. */
export interface LegacyHookRunner {
  runBeforeModelResolve: Run<'before_model_resolve'>;
  runBeforePromptBuild: Run<'before_prompt_build'>;
  /** Runs the `before_agent_start` handlers alone: the other handlers of both stages run with their own hooks. */
  runBeforeAgentStart: Run<'before_agent_start'>;
  runLlmInput: Run<'llm_input'>;
  runLlmOutput: Run<'llm_output'>;
  runAgentEnd: Run<'agent_end'>;
  runBeforeCompaction: Run<'before_compaction'>;
  runAfterCompaction: Run<'after_compaction'>;
  runBeforeReset: Run<'before_reset'>;
  runMessageReceived: Run<'message_received'>;
  runMessageSending: Run<'message_sending'>;
  runMessageSent: Run<'message_sent'>;
  runBeforeToolCall: Run<'before_tool_call'>;
  runAfterToolCall: Run<'after_tool_call'>;
  runToolResultPersist: RunSync<'tool_result_persist'>;
  runBeforeMessageWrite: RunSync<'before_message_write'>;
  runSessionStart: Run<'session_start'>;
  runSessionEnd: Run<'session_end'>;
  runSubagentSpawning: Run<'subagent_spawning'>;
  runSubagentDeliveryTarget: Run<'subagent_delivery_target'>;
  runSubagentSpawned: Run<'subagent_spawned'>;
  runSubagentEnded: Run<'subagent_ended'>;
  runGatewayStart: Run<'gateway_start'>;
  runGatewayStop: Run<'gateway_stop'>;
  /** Whether a call of this hook would reach anybody: a legacy handler, or a canonical one of its stages. */
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
