import {
  definedFields,
  isFields,
  type Kernel,
  type Outcome,
  openKernel,
} from '../../kernel/index.js';
import { announce } from '../facts/announce.js';
import { known } from '../facts/known.js';
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
import { plainRecords } from '../hooks/plain-records.js';
import type { Announcement, LegacyHookRow } from '../hooks/row.js';
import { bridgeOf } from './bridge-state.js';
import { bandOf, hookReach } from './hook-reach.js';
import { LegacyCall } from './legacy-call.js';
import { type LegacyHookRunnerOptions, RunnerReporter } from './runner-reporter.js';

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
  const { countOf, run, runSync } = hookRuns(kernel, options);
  const methods: Record<string, unknown> = {
    hasHooks: (hook: LegacyHookName) => countOf(hook) > 0,
    getHookCount: countOf,
  };
  for (const hook of legacyHookNames)
    methods[methodOf(hook)] =
      pluginHooks[hook].kind === 'sync'
        ? (event: LegacyEvent, ctx: LegacyContext) => runSync(hook, event, ctx)
        : (event: LegacyEvent, ctx: LegacyContext) => run(hook, event, ctx);
  return methods as unknown as LegacyHookRunner; // a method for each row of the table, named after it
}

/** `before_tool_call` -> `runBeforeToolCall`. */
function methodOf(hook: LegacyHookName): string {
  return `run${hook.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}`;
}

/** A call of the runner that is under way. */
interface Begun {
  readonly hook: LegacyHookName;
  readonly row: LegacyHookRow;
  readonly call: LegacyCall;
  readonly listener: RunnerReporter;
  /** The handlers that it would reach. */
  readonly count: number;
}

/** Runs plugin hooks as the legacy runner does, on the canonical stages of one kernel. */
function hookRuns(on: Kernel, options: LegacyHookRunnerOptions) {
  const kernel = openKernel(on);
  const bridge = bridgeOf(on);
  const facts = sameFact(on);
  facts.attach('plugin-hooks'); // agent events then leave it what its hooks can answer
  const countOf = hookReach(on, bridge);

  async function run(
    hook: LegacyHookName,
    event: LegacyEvent,
    ctx: LegacyContext,
  ): Promise<unknown> {
    const begun = begin(hook, event, ctx);
    const { row, listener } = begun;
    const outcomes: Outcome[] = [];
    try {
      for (const announcement of announcementsOf(row, event, ctx)) {
        const { family, payload, given } = prepared(begun, announcement);
        const dispatch = () => kernel.dispatch(family, payload, given);
        const outcome = await announce(facts, 'plugin-hooks', family, payload, dispatch);
        outcomes.push(outcome);
        listener.throwFirst();
        if (row.kind === 'void') await settled(begun, outcome);
        listener.throwFirst();
      }
      return resultOf(begun, outcomes);
    } catch (error) {
      return listener.refuse(error);
    }
  }

  function runSync(hook: LegacyHookName, event: LegacyEvent, ctx: LegacyContext): unknown {
    const begun = begin(hook, event, ctx);
    const { row, listener, count } = begun;
    const outcomes: Outcome[] = [];
    try {
      for (const announcement of announcementsOf(row, event, ctx)) {
        const { family, payload, given } = prepared(begun, announcement);
        outcomes.push(kernel.dispatchSync(family, payload, given));
        listener.throwFirst();
      }
      if (count === 0) return undefined; // as the legacy runner, which gives back no message then
      return resultOf(begun, outcomes);
    } catch (error) {
      return listener.refuse(error);
    }
  }

  function begin(hook: LegacyHookName, event: LegacyEvent, ctx: LegacyContext): Begun {
    const row: LegacyHookRow = pluginHooks[hook];
    const listener = new RunnerReporter(hook, row.kind, options);
    const call = new LegacyCall(hook, row, { event, ctx }, bridge.tellInPlace, listener);
    const count = countOf(hook);
    if (count > 0) listener.tellRunning(count);
    return { hook, row, call, listener, count };
  }

  /** Checks the payload of an announcement, and notes that its dispatch is this call. */
  function prepared(
    { row, call, listener: { signal } }: Begun,
    announcement: Announcement,
  ): Announcement {
    const { family, payload, given } = announcement;
    const parsed = kernel.parsePayload(family, plainRecords(payload));
    const metadata = { legacyHook: call.hook };
    bridge.announce(metadata, call);
    const ours = { ...definedFields({ band: bandOf(row, family), signal }), metadata };
    return { family, payload: parsed, given: { ...given, ...ours } };
  }

  /** Waits for the slowest handler, also where another bus's dispatch called it. */
  async function settled({ hook, row, call, listener }: Begun, { event }: Outcome): Promise<void> {
    if (!listener.catchErrors) await Promise.all(call.settling);
    await Promise.allSettled(call.settling);
    if (bridge.isAnnounced(hook, event)) return;
    const joined = bridge.callOf(hook, row, event);
    await Promise.allSettled(joined.settling);
    for (const { registered, error } of joined.failures) listener.failed(registered, error);
  }

  function resultOf({ row, listener, call }: Begun, outcomes: readonly Outcome[]): unknown {
    const [first, ...more] = outcomes;
    if (first === undefined) return undefined;
    const refused = new Set<string>();
    for (const { failures } of outcomes)
      for (const { extensionId = '', contributionId = '', kind, message } of failures) {
        if (!bridge.isLegacy({ extensionId, contributionId })) continue;
        if (kind === 'threw' || kind === 'async-in-sync') continue; // told when it happened
        const handler = `${extensionId}/${contributionId.split('.')[0]}`;
        if (kind === 'not-run' && refused.has(handler)) continue; // the other half of it was cut: told
        refused.add(handler);
        listener.tellFailed(extensionId, message);
      }
    listener.throwFirst();
    const answers = call.answers
      .filter(({ registered: { pluginId, index } }) => !refused.has(`${pluginId}/${index}`))
      .map(({ value }) => value);
    const canonicalWrites = outcomes.flatMap(({ changes }) =>
      changes.filter((change) => !bridge.isLegacy(change)).map(({ path }) => path),
    );
    return row.result({ outcomes: [first, ...more], answers, canonicalWrites });
  }

  return { countOf, run, runSync };
}

/** Gives the announcements of a call. The check of the payload finds a required field that is missing. */
function announcementsOf(
  row: LegacyHookRow,
  event: LegacyEvent,
  ctx: LegacyContext,
): readonly Announcement[] {
  if (!isFields(event) || !isFields(ctx))
    throw new TypeError('its event and its context have to be objects');
  return row.announce(known(event) as LegacyEvent, known(ctx) as LegacyContext);
}
