import { definedFields, isThenable } from '../../kernel/index.js';
import type {
  LegacyContext,
  LegacyEvent,
  LegacyHookName,
  LegacyHookRegistration,
} from '../../legacy/index.js';
import { plainCopy } from './plain-copy.js';

/** A handler of a scenario, as a plugin registers it. */
export interface ParityHandler<H extends LegacyHookName = LegacyHookName> {
  readonly pluginId: string;
  readonly priority?: number;
  readonly handler: (event: LegacyEvent<H>, ctx: LegacyContext<H>) => unknown;
}

/** One call of a handler, as it looked when it was made. */
export interface ParityCall {
  /** Which handler of the scenario, from 0. */
  readonly handler: number;
  readonly pluginId: string;
  readonly event: unknown;
  readonly ctx: unknown;
  /** It was called with the very event that the host handed over. */
  readonly isHostsEvent: boolean;
  /** It was called before the runner's method returned. */
  readonly isAtOnce: boolean;
}

/** A line that a runner wrote. */
export interface ParityLine {
  readonly level: 'debug' | 'warn' | 'error';
  readonly text: string;
}

/** The end of a runner's method. */
export type ParityEnding =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly message: string; readonly cause: unknown }
  | { readonly kind: 'pending' };

/** Everything that could be seen of one run. */
export interface ParityRun {
  readonly ending: ParityEnding;
  readonly calls: readonly ParityCall[];
  readonly log: readonly ParityLine[];
  /** Calls, lines, notes and the ending in the order in which they came. */
  readonly order: readonly string[];
  /** The host's event and context afterwards: handlers may have written to them. */
  readonly event: unknown;
  readonly ctx: unknown;
}

/** A legacy runner: anything with a method `run<HookName>(event, ctx)` per hook. */
export type AnyLegacyRunner = object;

/** Makes a runner of registered handlers, as OpenClaw's `createHookRunner` does. */
export type MakeLegacyRunner = (
  registry: { readonly typedHooks: readonly (LegacyHookRegistration & { source: string })[] },
  options: {
    readonly logger: Readonly<Record<ParityLine['level'], (text: string) => void>>;
    readonly catchErrors: boolean;
  },
) => AnyLegacyRunner;

/** A scenario to run. */
export interface ParityScenario<H extends LegacyHookName = LegacyHookName> {
  readonly hook: H;
  readonly event: LegacyEvent<H>;
  readonly ctx: LegacyContext<H>;
  /** In the order in which the plugins were loaded. */
  readonly handlers: readonly ParityHandler<H>[];
  /** Has the meaning of the runner's own option; by default `true`. */
  readonly catchErrors?: boolean;
  /**
   * Is called while the runner's promise is pending, to let handlers go on; the run waits for the promise that it returns. The
   * ending is `pending` if the runner's promise still is. By default the run waits for the runner.
   */
  readonly drive?: (running: Promise<unknown>, note: (text: string) => void) => Promise<unknown>;
}

/**
 * Runs a scenario through a runner and records it. The event and the context are handed over as they are:
 * changes that handlers make to them stay there.
 *
 * @throws TypeError if the runner has no method for the hook.
 * @example
 * const { ending, calls } = await recordParityRun(pipelineRunner(kernel), {
 *   hook: 'message_sending',
 *   event: { to: 'C1', content: 'hi' },
 *   ctx: { channelId: 'slack' },
 *   handlers: [{ pluginId: 'acme', handler: () => ({ cancel: true }) }],
 * });
 */
export async function recordParityRun<H extends LegacyHookName>(
  makeRunner: MakeLegacyRunner,
  scenario: ParityScenario<H>,
): Promise<ParityRun> {
  const { hook, event, ctx, handlers, catchErrors = true, drive } = scenario;
  const calls: ParityCall[] = [];
  const log: ParityLine[] = [];
  const order: string[] = [];
  let isAtOnce = true;
  const line = (level: ParityLine['level']) => (text: string) => {
    log.push({ level, text });
    order.push(`${level} ${text}`);
  };
  const typedHooks = handlers.map(({ pluginId, priority, handler }, index) => ({
    pluginId,
    hookName: hook,
    source: pluginId,
    ...definedFields({ priority }),
    handler: (given: LegacyEvent<H>, context: LegacyContext<H>) => {
      const seen = { event: plainCopy(given), ctx: plainCopy(context) };
      calls.push({ handler: index, pluginId, ...seen, isHostsEvent: given === event, isAtOnce });
      order.push(`call ${index}`);
      return handler(given, context);
    },
  }));
  const logger = { debug: line('debug'), warn: line('warn'), error: line('error') };
  const runner = makeRunner({ typedHooks }, { logger, catchErrors });
  const method = methodOf(runner, hook);
  let ending: ParityEnding = { kind: 'pending' };
  const end = (how: ParityEnding): void => {
    ending = how;
    order.push(how.kind);
  };
  let result: unknown;
  try {
    result = method.call(runner, event, ctx);
    if (!isThenable(result)) end({ kind: 'returned', value: result });
  } catch (error) {
    end(threw(error));
  }
  isAtOnce = false;
  if (isThenable(result)) {
    const running = Promise.resolve(result).then(
      (value) => end({ kind: 'returned', value }),
      (error: unknown) => end(threw(error)),
    );
    await (drive?.(running, (text) => order.push(text)) ?? running);
  }
  return { ending, calls, log, order, event, ctx };
}

function methodOf(runner: AnyLegacyRunner, hook: LegacyHookName): (...args: unknown[]) => unknown {
  const name = `run${hook.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}`;
  const method = (runner as Readonly<Record<string, unknown>>)[name];
  if (typeof method === 'function') return method as (...args: unknown[]) => unknown;
  throw new TypeError(`The runner has no method ${name}, which the hook ${hook} is run by.`);
}

function threw(error: unknown): ParityEnding {
  if (!(error instanceof Error)) return { kind: 'threw', message: typeof error, cause: error };
  return { kind: 'threw', message: error.message, cause: error.cause };
}
