import { definedFields, isThenable } from 'sluice-kernel/internal';
import type {
  LegacyContext,
  LegacyEvent,
  LegacyHookName,
  LegacyProfile,
} from '../profiles/index.js';
import type { LegacyHookRegistration } from '../runner/registration.js';
import { plainCopy } from './plain-copy.js';

/** A handler of a scenario, as a plugin registers it. */
export interface ParityHandler<
  H extends string = LegacyHookName,
  P extends LegacyProfile = '2026.3',
> {
  /** The hook that it is for, by default the one that the scenario begins with. */
  readonly hook?: LegacyHookName<P>;
  readonly pluginId: string;
  readonly priority?: number;
  readonly handler: (event: LegacyEvent<H, P>, ctx: LegacyContext<H, P>) => unknown;
  /** Further options of `api.on`, such as `timeoutMs` and `matcher`. */
  readonly options?: Partial<
    Pick<LegacyHookRegistration, 'timeoutMs' | 'matcher' | 'eligibleTriggers'>
  >;
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

/** A line that a plugin wrote to its own logger. */
export interface PluginLine {
  readonly level: string;
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
  /** The values that the handlers returned, in the order of their calls: a promise stays one. */
  readonly answers?: readonly unknown[];
  /** The runs of the further hooks of the scenario. */
  readonly next?: readonly ParityRun[];
  /** The lines of the plugin, if the scenario has one. */
  readonly said?: readonly PluginLine[];
  /** The reports of the watches, by their names. */
  readonly effects?: Readonly<Record<string, unknown>>;
}

/** A legacy runner: anything with a method `run<HookName>(event, ctx)` per hook. */
type AnyLegacyRunner = object;

/** A registered handler of a scenario, of any profile. */
interface ParityRegistration extends Omit<LegacyHookRegistration<string>, 'handler'> {
  readonly source: string;
  handler(event: never, ctx: never): unknown;
}

/** Makes a runner of registered handlers, as OpenClaw's `createHookRunner` does. */
export type MakeLegacyRunner = (
  registry: { readonly typedHooks: readonly ParityRegistration[] },
  options: {
    readonly logger: Readonly<Record<ParityLine['level'], (text: string) => void>>;
    readonly catchErrors: boolean;
  },
) => AnyLegacyRunner;

/** One call of a runner. */
interface ParityStep<H extends string = LegacyHookName, P extends LegacyProfile = '2026.3'> {
  readonly hook: H;
  readonly event: LegacyEvent<H, P>;
  readonly ctx: LegacyContext<H, P>;
}

/** One call of a runner for any hook, with its own event and context. */
export type AnyParityStep<P extends LegacyProfile = '2026.3'> = {
  readonly [H in LegacyHookName<P>]: ParityStep<H, P>;
}[LegacyHookName<P>];

/** A scenario to run. */
export interface ParityScenario<
  H extends string = LegacyHookName,
  P extends LegacyProfile = '2026.3',
> extends ParityStep<H, P> {
  /** Further calls of the same runner, one after the other: the hooks of a run in their order. */
  readonly next?: readonly AnyParityStep<P>[];
  /** In the order in which the plugins were loaded. */
  readonly handlers: readonly ParityHandler<H, P>[];
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
export async function recordParityRun<
  H extends LegacyHookName<P>,
  P extends LegacyProfile = '2026.3',
>(makeRunner: MakeLegacyRunner, scenario: ParityScenario<H, P>): Promise<ParityRun> {
  const { hook, event, ctx, handlers, catchErrors = true, drive, next = [] } = scenario;
  let now = newStep(event); // of the call that runs
  const line = (level: ParityLine['level']) => (text: string) => {
    now.log.push({ level, text });
    now.order.push(`${level} ${text}`);
  };
  const typedHooks = handlers.map(
    ({ hook: hookName = hook, pluginId, priority, handler, options }, index) => ({
      ...options,
      pluginId,
      hookName,
      source: pluginId,
      ...definedFields({ priority }),
      handler: (given: LegacyEvent<H, P>, context: LegacyContext<H, P>) => {
        const { calls, order, answers, isAtOnce } = now;
        const seen = { event: plainCopy(given), ctx: plainCopy(context) };
        const isHostsEvent = given === now.event;
        calls.push({ handler: index, pluginId, ...seen, isHostsEvent, isAtOnce });
        order.push(`call ${index}`);
        const at = answers.push(undefined) - 1;
        const answer = handler(given, context);
        answers[at] = answer;
        return answer;
      },
    }),
  );
  const logger = { debug: line('debug'), warn: line('warn'), error: line('error') };
  const runner = makeRunner({ typedHooks }, { logger, catchErrors });
  const first = await recordStep(runner, { hook, event, ctx }, now, drive);
  const others: ParityRun[] = [];
  for (const step of next) {
    now = newStep(step.event);
    others.push(await recordStep(runner, step, now, drive));
  }
  return { ...first, ...(next.length > 0 && { next: others }) };
}

/** The record of one call while it runs. */
interface Recording {
  readonly event: unknown;
  readonly calls: ParityCall[];
  readonly log: ParityLine[];
  readonly order: string[];
  readonly answers: unknown[];
  isAtOnce: boolean;
}

function newStep(event: unknown): Recording {
  return { event, calls: [], log: [], order: [], answers: [], isAtOnce: true };
}

async function recordStep(
  runner: AnyLegacyRunner,
  { hook, event, ctx }: { readonly hook: string; readonly event: unknown; readonly ctx: unknown },
  recording: Recording,
  drive: ParityScenario['drive'],
): Promise<ParityRun> {
  const { calls, log, order, answers } = recording;
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
  recording.isAtOnce = false;
  if (isThenable(result)) {
    const running = Promise.resolve(result).then(
      (value) => end({ kind: 'returned', value }),
      (error: unknown) => end(threw(error)),
    );
    await (drive?.(running, (text) => order.push(text)) ?? running);
  }
  return { ending, calls, log, order, event, ctx, answers };
}

function methodOf(runner: AnyLegacyRunner, hook: string): (...args: unknown[]) => unknown {
  const name = `run${hook.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}`;
  const method = (runner as Readonly<Record<string, unknown>>)[name];
  if (typeof method === 'function') return method as (...args: unknown[]) => unknown;
  throw new TypeError(`The runner has no method ${name}, which the hook ${hook} is run by.`);
}

function threw(error: unknown): ParityEnding {
  if (!(error instanceof Error)) return { kind: 'threw', message: typeof error, cause: error };
  return { kind: 'threw', message: error.message, cause: error.cause };
}
