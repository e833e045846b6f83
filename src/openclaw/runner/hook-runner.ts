import {
  definedFields,
  type Fields,
  isFields,
  type Kernel,
  type Outcome,
} from 'sluice-kernel/internal';
import { known } from '../facts/known.js';
import type { Announcement } from '../facts/legacy-bus.js';
import type { Ending, LegacyHookRow } from '../hooks/row.js';
import {
  type HostedHookName,
  type LegacyContext,
  type LegacyEvent,
  type LegacyHookName,
  type LegacyHooks,
  type LegacyProfile,
  type LegacyResult,
  rowsOf,
} from '../profiles/index.js';
import { bridgeOf, type LegacyBridge } from './bridge-state.js';
import { type BandOf, bandsOf, hookReach } from './hook-reach.js';
import { LegacyCall } from './legacy-call.js';
import { type LegacyHookRunnerOptions, RunnerReporter } from './runner-reporter.js';

/** A hook that a legacy runner calls. */
type CalledHook<P extends LegacyProfile> = Exclude<LegacyHookName<P>, HostedHookName<P>>;

type Run<P extends LegacyProfile, H extends LegacyHookName<P>> = (
  event: LegacyEvent<H, P>,
  ctx: LegacyContext<H, P>,
) => LegacyHooks<P>[H] extends { readonly kind: 'sync' }
  ? LegacyResult<H, P> | undefined
  : Promise<LegacyResult<H, P> | undefined>;

/** `before_tool_call` -> `BeforeToolCall`. */
type Pascal<Name extends string> = Name extends `${infer Word}_${infer Rest}`
  ? `${Capitalize<Word>}${Pascal<Rest>}`
  : Capitalize<Name>;

type Runs<P extends LegacyProfile> = {
  [H in CalledHook<P> as `run${Pascal<H>}`]: Run<P, H>;
};

/**
 * OpenClaw's hook runner of a profile, as hosts call it, on the canonical stages. Each hook has a method that is
 * named after it: `runBeforeToolCall(event, ctx)` runs `before_tool_call`. Those of the two hooks that write the
 * transcript give their result at once, the others a promise. `runBeforeAgentStart` runs the `before_agent_start`
 * handlers alone: the other handlers of both stages run with their own hooks.
 */
export type LegacyHookRunner<P extends LegacyProfile = '2026.3'> = Runs<P> & {
  /** Returns whether a call of this hook, in a context, would reach a handler: a legacy one, or a canonical one of its stages. */
  hasHooks(hook: LegacyHookName<P>, ctx?: object): boolean;
  /** How many handlers a call of this hook would reach. */
  getHookCount(hook: LegacyHookName<P>): number;
};

/**
 * The legacy runner for hosts that still call it: same methods, same arguments, same results, running on the canonical
 * stages, so that legacy and canonical handlers share one order and one outcome. What differs is listed, by name, in
 * `legacyDivergences`. A hook without a stage of its own has no method (event-pipeline §17.30).
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
export function createLegacyHookRunner<P extends LegacyProfile = '2026.3'>(
  kernel: Kernel,
  options: LegacyHookRunnerOptions<P> = {},
): LegacyHookRunner<P> {
  const { profile = '2026.3' } = options;
  const runs = new HookRuns(kernel, profile, options);
  const methods: Record<string, unknown> = {
    hasHooks: (hook: string, ctx?: object) => runs.countOf(hook, undefined, ctx) > 0,
    getHookCount: (hook: string) => runs.countOf(hook),
  };
  for (const [hook, row] of Object.entries(rowsOf(profile)))
    if (row.isHosted !== true)
      methods[methodOf(hook)] =
        row.kind === 'sync'
          ? (event: object, ctx: object) => runs.runSync(hook, row, event, ctx)
          : (event: object, ctx: object) =>
              runs.run(hook, row, row.namesRun === true ? namingRun(event, ctx) : event, ctx);
  return methods as LegacyHookRunner<P>; // a method for each row of the table, named after it
}

/** The event with the run of its context, if it names none itself. */
function namingRun(event: object, ctx: object): object {
  const [{ runId }, { runId: known }] = [Object(event), Object(ctx)] as { runId?: unknown }[] as [
    { runId?: unknown },
    { runId?: unknown },
  ]; // from outside
  return runId || !known ? event : { ...event, runId: known };
}

/** `before_tool_call` -> `runBeforeToolCall`. */
function methodOf(hook: string): string {
  return `run${hook.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}`;
}

/** A call of the runner that is under way. */
interface Begun {
  readonly hook: string;
  readonly row: LegacyHookRow;
  readonly call: LegacyCall;
  readonly listener: RunnerReporter;
  /** The handlers that it would reach. */
  readonly count: number;
}

/** Runs plugin hooks as the legacy runner does, on the canonical stages of one kernel. */
class HookRuns {
  readonly countOf: ReturnType<typeof hookReach>;
  readonly #bridge: LegacyBridge;
  readonly #bandOf: BandOf;
  readonly #options: LegacyHookRunnerOptions<LegacyProfile>;

  constructor(on: Kernel, profile: LegacyProfile, options: LegacyHookRunnerOptions<LegacyProfile>) {
    this.#bridge = bridgeOf(on);
    this.#bridge.facts().attach('plugin-hooks'); // agent events then leave it what its hooks can answer
    this.#bandOf = bandsOf(profile);
    this.#options = options;
    this.countOf = hookReach(on, this.#bridge, profile, this.#bandOf);
  }

  async run(hook: string, row: LegacyHookRow, event: object, ctx: object): Promise<unknown> {
    const begun = this.#begin(hook, row, event, ctx);
    const { listener } = begun;
    const outcomes: Outcome[] = [];
    try {
      for (const announcement of announcementsOf(row, event, ctx)) {
        const outcome = await this.#bridge.announce(this.#prepared(begun, announcement));
        outcomes.push(outcome);
        if (!listener.waitsForAll) listener.throwFirst();
        if (row.kind === 'void') await this.#settled(begun, outcome);
        listener.throwFirst();
      }
      return this.#resultOf(begun, outcomes);
    } catch (error) {
      return listener.refuse(error);
    }
  }

  runSync(hook: string, row: LegacyHookRow, event: object, ctx: object): unknown {
    const begun = this.#begin(hook, row, event, ctx);
    const { listener, count } = begun;
    const outcomes: Outcome[] = [];
    try {
      for (const announcement of announcementsOf(row, event, ctx)) {
        outcomes.push(this.#bridge.announceSync(this.#prepared(begun, announcement)));
        listener.throwFirst();
      }
      if (count === 0) return undefined; // as the legacy runner, which gives back no message then
      return this.#resultOf(begun, outcomes);
    } catch (error) {
      return listener.refuse(error);
    }
  }

  #begin(hook: string, row: LegacyHookRow, event: object, ctx: object): Begun {
    const listener = new RunnerReporter(hook, row, this.#options);
    const call = new LegacyCall(hook, row, { event, ctx }, this.#bridge.reportInPlace, listener);
    const count = this.countOf(hook, event, ctx);
    if (count > 0) listener.reportRunning(count);
    return { hook, row, call, listener, count };
  }

  /** Checks the payload of an announcement, and notes that its dispatch is this call. */
  #prepared({ row, call, listener: { signal } }: Begun, announcement: Announcement): Announcement {
    const metadata = { legacyHook: call.hook };
    this.#bridge.note(metadata, row, call);
    const band = this.#bandOf(row, announcement.family);
    const given = { ...announcement.given, ...definedFields({ band, signal }), metadata };
    return this.#bridge.checked({ ...announcement, given });
  }

  /** Waits for the slowest handler, also where another bus's dispatch called it. */
  async #settled({ hook, row, call, listener }: Begun, { event }: Outcome): Promise<void> {
    if (!listener.catchErrors && !listener.waitsForAll) await Promise.all(call.settling);
    await Promise.allSettled(call.settling);
    if (this.#bridge.announced(event)?.row === row) return;
    const joined = this.#bridge.callOf(hook, row, event);
    await Promise.allSettled(joined.settling);
    for (const { registered, error } of joined.failures) listener.failed(registered, error);
  }

  #resultOf({ row, listener, call }: Begun, outcomes: readonly Outcome[]): unknown {
    const [first, ...more] = outcomes;
    if (first === undefined) return undefined;
    const refused = this.#refusedIn(outcomes, listener);
    listener.throwFirst();
    const taken = call.answers.filter(
      ({ registered: { pluginId, index } }) => !refused.has(`${pluginId}/${index}`),
    );
    const canonicalWrites = outcomes.flatMap(({ changes }) =>
      changes.filter((change) => this.#bridge.ownerOf(change)?.row !== row).map(({ path }) => path),
    );
    const answers = taken.map(({ value }) => value);
    const plugins = taken.map(({ registered }) => registered.pluginId);
    const ending: Ending = { outcomes: [first, ...more], answers, plugins, canonicalWrites };
    return keyedAs(answers, row.result(ending));
  }

  /** The handlers whose answers the pipeline has refused. Each is told, unless that was told when it happened. */
  #refusedIn(outcomes: readonly Outcome[], listener: RunnerReporter): ReadonlySet<string> {
    const refused = new Set<string>();
    for (const { failures } of outcomes)
      for (const { extensionId = '', contributionId = '', kind, message } of failures) {
        if (!this.#bridge.isLegacy({ extensionId, contributionId })) continue;
        if (kind === 'threw' || kind === 'async-in-sync') continue; // told when it happened
        const handler = `${extensionId}/${contributionId.split('.')[0]}`;
        if (kind === 'not-run' && refused.has(handler)) continue; // the other half of it was cut: told
        refused.add(handler);
        listener.reportFailed(extensionId, message);
      }
    return refused;
  }
}

/**
 * A result with its keys in the order of the only answer: the legacy runner hands that through as it is. What several answers
 * come to has the order of the row.
 */
function keyedAs([only, ...others]: readonly Fields[], result: unknown): unknown {
  if (only === undefined || others.length > 0 || !isFields(result)) return result;
  const keys = Object.keys(only);
  if (keys.length < 2) return result;
  const ordered = [...keys, ...Object.keys(result)].filter((key) => Object.hasOwn(result, key));
  return Object.fromEntries([...new Set(ordered)].map((key) => [key, result[key]]));
}

/** Gives the announcements of a call. The check of the payload finds a required field that is missing. */
function announcementsOf(row: LegacyHookRow, event: object, ctx: object): readonly Announcement[] {
  if (!isFields(event) || !isFields(ctx))
    throw new TypeError('its event and its context have to be objects');
  return row.announce(known(event), known(ctx));
}
