import type {
  AsyncFamily,
  FamilyName,
  Kernel,
  Outcome,
  PayloadOf,
  SyncFamily,
} from '../kernel/index.js';
import { bridgeOf, type LegacyBridge } from './bridge-state.js';
import { FacadeListener } from './facade-listener.js';
import { factOf, isSharedFact } from './fact-identity.js';
import type { LegacyHookRunnerOptions } from './hook-runner-options.js';
import { legacyHookNames, pluginHooks } from './hooks/index.js';
import type { Announcement, LegacyHookRow } from './hooks/row.js';
import type { LegacyContext, LegacyEvent, LegacyHookName } from './hooks/shapes.js';
import { LegacyCall } from './legacy-call.js';
import { plainRecords } from './plain-records.js';
import { type FactIdentity, sameFact } from './same-fact.js';

/** Runs plugin hooks as the legacy runner does, on the canonical stages of one kernel. */
export class HookRun {
  readonly #kernel: Kernel;
  readonly #bridge: LegacyBridge;
  readonly #options: LegacyHookRunnerOptions;

  constructor(kernel: Kernel, options: LegacyHookRunnerOptions) {
    this.#kernel = kernel;
    this.#bridge = bridgeOf(kernel);
    this.#options = options;
  }

  count(hook: LegacyHookName): number {
    const row = pluginHooks[hook];
    const legacy = this.#bridge.count(hook);
    if (row.band === 'last') return legacy; // its stages' other handlers run with their own hooks
    const families = new Set(row.parts.map(({ family }) => family));
    let others = 0;
    for (const family of families)
      if (this.#kernel.has(family))
        for (const handler of this.#kernel.plan(family))
          if (!handler.disabled && !this.#bridge.isLegacy(handler)) others++;
    return legacy + others;
  }

  async run(hook: LegacyHookName, event: LegacyEvent, ctx: LegacyContext): Promise<unknown> {
    const { row, call, listener } = this.#begin(hook, event, ctx);
    const outcomes: Outcome[] = [];
    try {
      for (const announcement of row.announce(event, ctx)) {
        const outcome = await this.#dispatch(row, call, listener, announcement);
        outcomes.push(outcome);
        listener.throwFirst();
        if (row.kind === 'void') await this.#settled(hook, row, call, listener, outcome);
        listener.throwFirst();
      }
    } catch (error) {
      return listener.refuse(error);
    }
    return this.#result(row, listener, call, outcomes);
  }

  runSync(hook: LegacyHookName, event: LegacyEvent, ctx: LegacyContext): unknown {
    const { row, call, listener } = this.#begin(hook, event, ctx);
    const outcomes: Outcome[] = [];
    try {
      for (const { family, payload, given } of row.announce(event, ctx)) {
        const parsed = this.#kernel.parsePayload(family, plainRecords(payload));
        const metadata = { legacyHook: hook };
        this.#bridge.announce(metadata, call);
        const { signal } = listener;
        const outcome = this.#kernel.dispatchSync(
          family as SyncFamily, // the row's kind says so
          parsed as PayloadOf<SyncFamily>,
          { ...given, metadata, signal } as object,
        );
        outcomes.push(outcome as unknown as Outcome);
        listener.throwFirst();
      }
    } catch (error) {
      return listener.refuse(error);
    }
    if (this.count(hook) === 0) return undefined; // as the legacy runner, which gives back no message then
    return this.#result(row, listener, call, outcomes);
  }

  #begin(hook: LegacyHookName, event: LegacyEvent, ctx: LegacyContext) {
    const row = pluginHooks[hook] as unknown as LegacyHookRow; // called with its own hook's event and context
    const listener = new FacadeListener(hook, row.kind, this.#options);
    const call = new LegacyCall(hook, row, { event, ctx }, this.#bridge.tellInPlace, listener);
    const count = this.count(hook);
    if (count > 0) listener.tellRunning(count);
    return { row, call, listener };
  }

  /** Dispatches what a call announces, unless another bus has told of the same fact. */
  #dispatch(
    row: LegacyHookRow,
    call: LegacyCall,
    listener: FacadeListener,
    { family, payload, given }: Announcement,
  ): Promise<Outcome> {
    const parsed = this.#kernel.parsePayload(family, plainRecords(payload));
    const metadata = { legacyHook: call.hook };
    this.#bridge.announce(metadata, call);
    const bands = this.#bandOf(row, family);
    const { signal } = listener;
    const all = { ...given, ...bands, metadata, ...(signal !== undefined && { signal }) };
    const dispatch = () =>
      this.#kernel.dispatch(
        family as AsyncFamily, // the row's kind says so
        parsed as PayloadOf<AsyncFamily>,
        all as object,
      ) as unknown as Promise<Outcome>;
    if (!isSharedFact(family)) return dispatch();
    const fact = factOf(family, parsed as never) as FactIdentity; // parsed for this family
    const announced = dispatch as unknown as () => Promise<Outcome<AsyncFamily>>;
    const told = sameFact(this.#kernel).announce('plugin-hooks', fact, announced);
    return told as unknown as Promise<Outcome>;
  }

  /** A stage that a later hook has a band of is run without it, and the band without the others. */
  #bandOf(row: LegacyHookRow, family: FamilyName): { readonly band?: 'main' | 'last' } {
    if (row.band !== undefined) return { band: row.band };
    const isShared = legacyHookNames.some((name) => {
      const other = pluginHooks[name];
      return other.band === 'last' && other.parts.some((part) => part.family === family);
    });
    return isShared ? { band: 'main' } : {};
  }

  /** Waits for the slowest handler, also where another bus's dispatch called it. */
  async #settled(
    hook: LegacyHookName,
    row: LegacyHookRow,
    call: LegacyCall,
    listener: FacadeListener,
    { event }: Outcome,
  ): Promise<void> {
    if (!listener.catchErrors) await Promise.all(call.settling);
    await Promise.allSettled(call.settling);
    if (this.#bridge.isAnnounced(hook, event)) return;
    await Promise.allSettled(this.#bridge.callOf(hook, row, event).settling);
  }

  #result(
    row: LegacyHookRow,
    listener: FacadeListener,
    call: LegacyCall,
    outcomes: readonly Outcome[],
  ): unknown {
    const [first, ...more] = outcomes;
    if (first === undefined) return undefined;
    const refused = new Set<string>();
    for (const { failures } of outcomes)
      for (const { extensionId = '', contributionId = '', kind, message } of failures) {
        if (!this.#bridge.isLegacy({ extensionId, contributionId })) continue;
        if (kind === 'threw' || kind === 'async-in-sync') continue; // told when it happened
        refused.add(`${extensionId}/${contributionId.split('.')[0]}`);
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
