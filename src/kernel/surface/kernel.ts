import type { Kernel, KernelLimits, KernelOptions, KernelStats } from '../contract/contract.js';
import type { RawContribution } from '../contract/contribution.js';
import type { OperatorFunction } from '../contract/core-contract.js';
import { kernelError } from '../errors.js';
import { nameOf } from '../outcome/entry.js';
import type { Upstream } from '../outcome/envelope.js';
import { type Given, hasUnchecked, takeGiven } from '../outcome/given.js';
import type { Author, Outcome } from '../outcome/outcome.js';
import type { OperatorParts } from '../registry/parts.js';
import { type FamilyState, Registry } from '../registry/registry.js';
import { begin, end, settled } from '../run/dispatch.js';
import { CallbackPairs } from '../run/services/callbacks.js';
import { Deadlines } from '../run/services/deadlines.js';
import { InFlight } from '../run/services/in-flight.js';
import type { Plan } from '../run/services/plan.js';
import type { Quarantine } from '../run/services/quarantine.js';
import {
  Counters,
  type Services,
  type StageMerges,
  type StillRunning,
  type Tap,
  Taps,
} from '../run/services/services.js';
import { specimensOf } from '../run/specimens.js';
import { stageFailed } from '../run/state/failures.js';
import type { Nested } from '../run/state/origin.js';
import { type CloseReport, drainWithin } from '../run/state/running.js';
import { startedRun } from '../run/state/started-run.js';
import { passesUnheard, Unheard, upstreamOf } from '../run/state/unheard.js';
import { freezeOrThrow, takePayload, wrongMode } from '../stage/payload.js';
import {
  type Clock,
  type IdSource,
  type Logger,
  silentLogger,
  sortableIds,
  systemClock,
  unfailing,
} from '../stage/ports.js';
import type { Stage } from '../stage/stage.js';

const defaultLimits: KernelLimits = { warnAt: 1_000, refuseAt: 20_000, depth: 8 };

function stagesOf(options: unknown): readonly Stage[] {
  const refuse = (option: string, problem: string): never => {
    throw kernelError('bad-option', { option, problem });
  };
  if (typeof options !== 'object' || options === null) refuse('options', 'they are an object');
  const { stages }: { readonly stages?: unknown } = Object(options);
  if (!Array.isArray(stages) || !stages.every((stage) => Object(stage).onError !== undefined))
    return refuse('stages', 'it must be a list of stages, as defineStage makes them');
  return stages;
}

/** A kernel, behind the surface that others hold. */
export class PipelineKernel implements Services {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly taps = new Taps();
  readonly strict: boolean;
  readonly deadlines: Deadlines;
  readonly MatchIndex: OperatorParts['MatchIndex'] | undefined;
  readonly callbacks = new CallbackPairs();
  readonly inFlight = new InFlight();
  readonly stillRunning = new Set<StillRunning>();
  readonly counters = new Counters();
  /** The name that others know it by. */
  surface: object | undefined;
  readonly registry: Registry;
  readonly #depth: number;
  readonly #traces: boolean;
  /** Nobody but handlers and taps wants to see a dispatch. */
  readonly #mayBeUnheard: boolean;
  /** Held, and not used: V8 forgets the hidden classes that no object has. */
  readonly specimens: readonly object[];
  #sequence = 0;
  #stampMs = 0;
  #closed = false;

  /** @throws SluiceError `duplicate-family` or `bad-option`. */
  constructor(options: KernelOptions, parts: OperatorParts | undefined) {
    const stages = stagesOf(options);
    const limits = { ...defaultLimits, ...options.limits };
    this.clock = options.clock ?? systemClock;
    this.ids = options.ids ?? sortableIds();
    this.logger = unfailing(options.logger ?? silentLogger);
    this.#traces = options.trace ?? false;
    this.strict = options.validate === 'always';
    this.deadlines = new Deadlines(this.clock);
    this.MatchIndex = parts?.MatchIndex;
    this.#depth = limits.depth;
    for (const tap of [options.tap ?? []].flat()) this.taps.add({ tap });
    this.#mayBeUnheard = !this.#traces && !this.strict;
    this.registry = new Registry(options, { stages, limits, services: this, parts });
    this.specimens = specimensOf(this, stages);
  }

  /**
   * Makes what a handler or an extension may hold: not the machinery behind it.
   *
   * @param more the operator's functions.
   */
  open<More extends object>(more: More): Omit<Kernel, OperatorFunction> & More {
    const { registry } = this;
    const surface = {
      contribute: (given: RawContribution) => registry.contribute(given),
      tap: (tap: Tap, whose?: { readonly extensionId?: string }) =>
        this.taps.add({ tap, ...whose }),
      dispatch: (family: string, payload: object, given?: Given) =>
        this.dispatch(family, payload, given),
      dispatchSync: (family: string, payload: object, given?: Given) =>
        this.dispatchSync(family, payload, given),
      has: (family: string) => registry.planOf(registry.slot(family)).size > 0,
      plan: (family: string) => registry.handlersOf(registry.slot(family)),
      stages: () => registry.describe(),
      stats: () => this.stats(),
      parsePayload: (family: string, payload: unknown) => {
        const slot = registry.slot(family);
        return takePayload(slot.stage, registry.checkOf(slot), payload);
      },
      close: (how?: { readonly timeoutMs?: number }) => this.close(how),
      ...more,
    };
    this.surface = surface;
    return Object.freeze(surface) as Omit<Kernel, OperatorFunction> & More; // it takes families as text; the interface types them
  }

  get trace(): boolean {
    return this.#traces || this.taps.isTraced;
  }

  get quarantine(): Quarantine | undefined {
    return this.registry.quarantine;
  }

  blame(of: { readonly extensionId: string; readonly contributionId?: string }, why: string): void {
    this.counters.stray++;
    this.registry.blame(of, why);
  }

  dispatch(family: string, payload: object, given?: Given): Promise<Outcome> {
    try {
      const slot = this.registry.slot(family);
      if (slot.stage.mode === 'sync-sequential') throw wrongMode(slot.stage, 'dispatchSync');
      const unheard = this.#unheard(slot, payload, given);
      if (unheard !== undefined) return Promise.resolve(unheard);
      return settled(this.#start(slot, payload, given, undefined));
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  dispatchSync(family: string, payload: object, given?: Given): Outcome {
    const slot = this.registry.slot(family);
    if (slot.stage.mode !== 'sync-sequential') throw wrongMode(slot.stage, 'dispatch');
    return (
      this.#unheard(slot, payload, given) ??
      (begin(this.#start(slot, payload, given, undefined)) as Outcome) // a sync stage never waits
    );
  }

  nest(
    parent: { readonly downstream: Upstream; readonly depth: number },
    author: Author,
    family: string,
    payload: object,
  ): Outcome | Promise<Outcome> {
    const slot = this.registry.slot(family);
    this.registry.checkDispatch(author, slot);
    const depth = parent.depth + 1;
    const by = nameOf(author);
    const run = this.#start(slot, payload, undefined, { upstream: parent.downstream, depth, by });
    const isSync = slot.stage.mode === 'sync-sequential';
    if (depth <= this.#depth) return isSync ? (begin(run) as Outcome) : settled(run); // a sync stage never waits
    const problem = `${by} dispatched "${family}" ${depth} levels deep; ${this.#depth} are allowed`;
    stageFailed(run, 'too-deep', problem);
    run.stopped = 'after-failure';
    run.reached = 0;
    this.inFlight.add();
    return isSync ? end(run) : Promise.resolve(end(run));
  }

  stats(): KernelStats {
    return {
      ...this.counters,
      contributions: this.registry.size,
      waiting: this.deadlines.size,
      stillRunning: [...this.stillRunning],
      quarantined: this.quarantine?.list() ?? [],
    };
  }

  merges(family: string): StageMerges {
    return this.registry.mergesOf(this.registry.slot(family));
  }

  async close({ timeoutMs = 10_000 }: { readonly timeoutMs?: number } = {}): Promise<CloseReport> {
    this.#closed = true;
    const report = await drainWithin(this, timeoutMs);
    this.deadlines.dispose();
    this.quarantine?.dispose();
    return report;
  }

  planUnwatched(family: string, slot = this.registry.slot(family)): Plan | undefined {
    if (this.#closed || this.taps.isWatched || !this.#mayBeUnheard) return undefined;
    return slot.plan ?? this.registry.planOf(slot);
  }

  /** The outcome of a dispatch that no handler and no tap hears, and that can only pass. */
  #unheard(slot: FamilyState, payload: object, given: Given | undefined): Outcome | undefined {
    if (this.planUnwatched('', slot) === undefined) return undefined;
    const plan = chosenPlan(this.registry, slot, payload, given, undefined);
    if (plan.size > 0 || !passesUnheard(slot.stage, given)) return undefined;
    const nowMs = this.#stamp();
    if (nowMs < this.#stampMs) return undefined; // the clock went back
    if (given !== undefined && hasUnchecked(given))
      takeGiven(slot.stage, given, this.registry.taken); // §1.5
    this.counters.dispatches++;
    this.counters.passed++;
    return new Unheard(plan, payload, given, nowMs, ++this.#sequence) as Outcome; // of the row's payload
  }

  /** Reads the clock. §1.3: ids never go back, whatever the clock does. */
  #stamp(): number {
    const nowMs = this.clock.now();
    if (nowMs > this.#stampMs) this.#stampMs = nowMs;
    return nowMs;
  }

  #start(slot: FamilyState, payload: object, given: Given | undefined, nested: Nested | undefined) {
    const { stage } = slot;
    if (this.#closed && nested === undefined)
      throw kernelError('kernel-closed', { family: stage.family });
    const nowMs = this.#stamp();
    const sequence = ++this.#sequence;
    const taken = this.strict ? takePayload(stage, this.registry.checkOf(slot), payload) : payload;
    const plan = chosenPlan(this.registry, slot, taken, given, nested?.upstream);
    const isSeen = this.strict || plan.size > 0 || this.taps.isWatched;
    if (isSeen && !this.strict) freezeOrThrow(stage, payload);
    if (isSeen) this.counters.payloadsFrozen++;
    if (given !== undefined) takeGiven(stage, given, this.registry.taken);
    const run = startedRun(plan, taken, given, nested, nowMs, this.#stampMs, sequence);
    this.counters.dispatches++;
    return run;
  }
}

/**
 * Finds the handlers that a dispatch calls: of the band that it is for, those that match (judgement §2).
 *
 * @param nested the data that goes on from the dispatch whose handler began this one.
 */
function chosenPlan(
  registry: Registry,
  slot: FamilyState,
  payload: object,
  given: Given | undefined,
  nested: Upstream | undefined,
): Plan {
  const plan =
    given?.band === undefined
      ? (slot.plan ?? registry.planOf(slot))
      : registry.bandOf(slot, given.band);
  const { index } = plan;
  if (index === undefined) return plan;
  if (!index.readsOrigin) return index.planFor(payload, given, undefined);
  const upstream = given?.after === undefined ? nested : upstreamOf(given.after);
  return index.planFor(payload, given, upstream);
}
