import {
  definedFields,
  isFields,
  type Kernel,
  type OpenKernel,
  type Outcome,
  openKernel,
} from '../../kernel/index.js';
import { announce } from '../facts/announce.js';
import { known } from '../facts/known.js';
import { type SameFact, sameFact } from '../facts/same-fact.js';
import {
  type LegacyContext,
  type LegacyEvent,
  type LegacyHookName,
  pluginHooks,
} from '../hooks/index.js';
import { plainRecords } from '../hooks/plain-records.js';
import type { Announcement, LegacyHookRow } from '../hooks/row.js';
import { bridgeOf, type LegacyBridge } from './bridge-state.js';
import { bandOf, HookReach } from './hook-reach.js';
import type { LegacyHookRunnerOptions } from './hook-runner-options.js';
import { LegacyCall } from './legacy-call.js';
import { RunnerReporter } from './runner-reporter.js';

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
export class HookRun {
  readonly #kernel: OpenKernel;
  readonly #facts: SameFact;
  readonly #bridge: LegacyBridge;
  readonly #reach: HookReach;
  readonly #options: LegacyHookRunnerOptions;

  constructor(kernel: Kernel, options: LegacyHookRunnerOptions) {
    this.#kernel = openKernel(kernel);
    this.#bridge = bridgeOf(kernel);
    this.#facts = sameFact(kernel);
    this.#reach = new HookReach(kernel, this.#bridge);
    this.#options = options;
  }

  count(hook: LegacyHookName): number {
    return this.#reach.count(hook);
  }

  async run(hook: LegacyHookName, event: LegacyEvent, ctx: LegacyContext): Promise<unknown> {
    const begun = this.#begin(hook, event, ctx);
    const { row, listener } = begun;
    const outcomes: Outcome[] = [];
    try {
      for (const announcement of announcementsOf(row, event, ctx)) {
        const { family, payload, given } = this.#prepared(begun, announcement);
        const dispatch = () => this.#kernel.dispatch(family, payload, given);
        const outcome = await announce(this.#facts, 'plugin-hooks', family, payload, dispatch);
        outcomes.push(outcome);
        listener.throwFirst();
        if (row.kind === 'void') await this.#settled(begun, outcome);
        listener.throwFirst();
      }
      return this.#result(begun, outcomes);
    } catch (error) {
      return listener.refuse(error);
    }
  }

  runSync(hook: LegacyHookName, event: LegacyEvent, ctx: LegacyContext): unknown {
    const begun = this.#begin(hook, event, ctx);
    const { row, listener, count } = begun;
    const outcomes: Outcome[] = [];
    try {
      for (const announcement of announcementsOf(row, event, ctx)) {
        const { family, payload, given } = this.#prepared(begun, announcement);
        outcomes.push(this.#kernel.dispatchSync(family, payload, given));
        listener.throwFirst();
      }
      if (count === 0) return undefined; // as the legacy runner, which gives back no message then
      return this.#result(begun, outcomes);
    } catch (error) {
      return listener.refuse(error);
    }
  }

  #begin(hook: LegacyHookName, event: LegacyEvent, ctx: LegacyContext): Begun {
    const row: LegacyHookRow = pluginHooks[hook];
    const listener = new RunnerReporter(hook, row.kind, this.#options);
    const call = new LegacyCall(hook, row, { event, ctx }, this.#bridge.tellInPlace, listener);
    const count = this.count(hook);
    if (count > 0) listener.tellRunning(count);
    return { hook, row, call, listener, count };
  }

  /** Checks the payload of an announcement, and notes that its dispatch is this call. */
  #prepared({ row, call, listener: { signal } }: Begun, announcement: Announcement): Announcement {
    const { family, payload, given } = announcement;
    const parsed = this.#kernel.parsePayload(family, plainRecords(payload));
    const metadata = { legacyHook: call.hook };
    this.#bridge.announce(metadata, call);
    const ours = { ...definedFields({ band: bandOf(row, family), signal }), metadata };
    return { family, payload: parsed, given: { ...given, ...ours } };
  }

  /** Waits for the slowest handler, also where another bus's dispatch called it. */
  async #settled({ hook, row, call, listener }: Begun, { event }: Outcome): Promise<void> {
    if (!listener.catchErrors) await Promise.all(call.settling);
    await Promise.allSettled(call.settling);
    if (this.#bridge.isAnnounced(hook, event)) return;
    const joined = this.#bridge.callOf(hook, row, event);
    await Promise.allSettled(joined.settling);
    for (const { registered, error } of joined.failures) listener.failed(registered, error);
  }

  #result({ row, listener, call }: Begun, outcomes: readonly Outcome[]): unknown {
    const [first, ...more] = outcomes;
    if (first === undefined) return undefined;
    const refused = new Set<string>();
    for (const { failures } of outcomes)
      for (const { extensionId = '', contributionId = '', kind, message } of failures) {
        if (!this.#bridge.isLegacy({ extensionId, contributionId })) continue;
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
      changes.filter((change) => !this.#bridge.isLegacy(change)).map(({ path }) => path),
    );
    return row.result({ outcomes: [first, ...more], answers, canonicalWrites });
  }
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
