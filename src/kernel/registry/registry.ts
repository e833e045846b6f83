import type {
  KernelLimits,
  KernelOptions,
  PlannedHandler,
  StageInfo,
} from '../contract/contract.js';
import { entryOf, type RawContribution } from '../contract/contribution.js';
import { kernelError } from '../errors.js';
import { authorOf, codes, type Entry, nameOf } from '../outcome/entry.js';
import type { TakenData } from '../outcome/given.js';
import type { Author } from '../outcome/outcome.js';
import { compileMerges } from '../run/services/merges.js';
import { bandPlan, buildPlan, type Plan } from '../run/services/plan.js';
import type { Quarantine } from '../run/services/quarantine.js';
import type { Services, StageMerges } from '../run/services/services.js';
import { type PayloadCheck, payloadCheck } from '../stage/payload.js';
import type { Stage } from '../stage/stage.js';
import type { Band } from '../stage/vocabulary.js';
import { getOrMake } from '../value/get-or-make.js';
import { nearest } from '../value/nearest.js';
import { type Grants, notGranted } from './grants.js';
import type { OperatorChanges } from './override-of.js';
import type { OperatorParts } from './parts.js';

/** Everything that is kept of one family. What is compiled or sorted is made when it is first needed. */
export class FamilyState {
  readonly stage: Stage;
  readonly entries = new Set<Entry>();
  /** The entry that stands in the plan in place of another. */
  readonly standIns = new Map<Entry, Entry>();
  plan: Plan | undefined = undefined;
  /** The parts of the plan, where somebody dispatched to one of them. */
  bands: Partial<Record<Band, Plan>> = {};
  /** The plan as it is told, where somebody asked. */
  handlers: readonly PlannedHandler[] | undefined = undefined;
  check: PayloadCheck | undefined = undefined;
  merges: StageMerges | undefined = undefined;
  warned = false;

  constructor(stage: Stage) {
    this.stage = stage;
  }
}

/** The parts of its kernel that a registry works with. */
export interface RegistryParts {
  readonly stages: readonly Stage[];
  readonly limits: KernelLimits;
  readonly services: Services;
  /** Absent in `sluice-kernel/core`. */
  readonly parts: OperatorParts | undefined;
}

/** The contributions of each stage. Registering one thing costs nothing elsewhere (spec §3). */
export class Registry {
  readonly #options: KernelOptions;
  readonly #with: RegistryParts;
  readonly #changes: OperatorChanges;
  readonly #slots = new Map<string, FamilyState>();
  readonly #owners = new Map<string, Map<string, Entry>>();
  /** Absent in `sluice-kernel/core`. */
  readonly grants: Grants | undefined;
  /** Absent where it is switched off. */
  readonly quarantine: Quarantine | undefined;
  /** The data that was taken last. It may lead to a handler, so it is forgotten when one goes. */
  taken: TakenData = {};
  #size = 0;
  /** The slot that was asked for last: a stream asks for one again and again. */
  #recent: FamilyState | undefined;

  constructor(options: KernelOptions, given: RegistryParts) {
    const { stages, services, parts } = given;
    const { overrides = {}, audit = [], grants = {}, leastPrivilege = false, quarantine } = options;
    this.#options = options;
    this.#with = given;
    this.#changes = { overrides, audit: [...audit] };
    for (const stage of stages) {
      const { family } = stage;
      if (this.#slots.has(family)) throw kernelError('duplicate-family', { family });
      this.#slots.set(family, new FamilyState(stage));
    }
    if (parts === undefined) return;
    this.grants = new parts.Grants({ stages, grants, leastPrivilege });
    if (quarantine !== undefined)
      this.quarantine = new parts.Quarantine(quarantine, services, (entry, standIn) =>
        this.#place(entry, standIn),
      );
    for (const [key, override] of Object.entries(overrides)) parts.checkOverride(key, override);
  }

  /** How many contributions there are. */
  get size(): number {
    return this.#size;
  }

  /** @throws SluiceError `unknown-family`, naming the nearest. */
  slot(family: string, whose = ''): FamilyState {
    let slot = this.#recent;
    if (slot?.stage.family !== family) slot = this.#recent = this.#slots.get(family);
    if (slot !== undefined) return slot;
    const close = nearest(String(family), this.#slots.keys());
    throw kernelError('unknown-family', {
      family: String(family),
      nearest: close === undefined ? '' : ` Did you mean "${close}"?`,
      whose,
    });
  }

  /** Disposing the result, once or twice, takes the handler out. */
  contribute(given: RawContribution): Disposable {
    const { family: wanted, extensionId, id }: RawContribution = Object(given);
    const slot = this.slot(wanted, `${extensionId}/${id}: `);
    const { family } = slot.stage;
    const { parts, services } = this.#with;
    const share = {
      override: parts?.overrideOf(given, this.#changes) ?? {},
      grants: this.grants?.fieldsOf(given.extensionId, slot.stage) ?? [],
      matches: parts?.matchTraits,
    };
    const checked = entryOf(given, slot.stage, this.#stages(), share, services.logger);
    const entry = this.#instrumented(checked);
    if (this.grants?.allows(entry.extensionId, entry.class, family) === false)
      throw notGranted(entry, entry.class, family);
    const existing = this.#owners.get(entry.extensionId)?.get(entry.contributionId)?.family;
    if (existing !== undefined)
      throw kernelError('duplicate-contribution', { ...authorOf(entry), existing });
    this.#limit(slot, entry, family);
    const own = getOrMake(this.#owners, entry.extensionId, () => new Map<string, Entry>());
    own.set(entry.contributionId, entry);
    slot.entries.add(entry);
    this.#replan(slot);
    this.#size++;
    return { [Symbol.dispose]: () => this.#withdraw(entry) };
  }

  /** @throws SluiceError `not-granted` where a handler may not dispatch a family, which is the host's. */
  checkDispatch(author: Author, { stage }: FamilyState): void {
    const isHosts = stage.emitter !== 'anyone';
    if (!isHosts || this.grants?.mayDispatch(author.extensionId, stage.family) === true) return;
    throw notGranted(author, 'dispatch', stage.family);
  }

  /** Lays a failure outside of any dispatch at the door of an extension, or of one of its contributions. */
  blame(of: { readonly extensionId: string; readonly contributionId?: string }, why: string): void {
    const own = this.#owners.get(of.extensionId);
    for (const entry of own?.values() ?? [])
      if (of.contributionId === undefined || of.contributionId === entry.contributionId)
        this.quarantine?.failed(entry, 'threw', why);
  }

  /** Takes a contribution out. Dispatches in flight keep the plan they began with. */
  #withdraw(entry: Entry): void {
    const slot = this.slot(entry.family);
    if (!slot.entries.delete(entry)) return;
    slot.standIns.delete(entry);
    this.quarantine?.forget(entry);
    this.taken = {};
    this.#replan(slot);
    this.#size--;
    const own = this.#owners.get(entry.extensionId);
    own?.delete(entry.contributionId);
    if (own?.size === 0) this.#owners.delete(entry.extensionId);
  }

  planOf(slot: FamilyState): Plan {
    if (slot.plan !== undefined) return slot.plan;
    const { entries, standIns } = slot;
    const placed = [...entries].map((entry) => standIns.get(entry) ?? entry);
    this.#with.services.counters.plansBuilt++;
    slot.plan = buildPlan(this.#with.services, slot.stage, placed);
    return slot.plan;
  }

  bandOf(slot: FamilyState, band: Band): Plan {
    slot.bands[band] ??= bandPlan(this.planOf(slot), band);
    return slot.bands[band];
  }

  checkOf(slot: FamilyState): PayloadCheck {
    slot.check ??= payloadCheck(slot.stage);
    return slot.check;
  }

  mergesOf(slot: FamilyState): StageMerges {
    slot.merges ??= compileMerges(
      slot.stage,
      this.#options.generateCode === false ? undefined : this.#with.parts,
    );
    return slot.merges;
  }

  /** Every stage with its handlers in run order, those that the operator disabled at the end. */
  describe(): StageInfo[] {
    return [...this.#slots.values()].map((slot) => ({
      stage: slot.stage,
      handlers: this.handlersOf(slot),
    }));
  }

  /** The same list until contributions change: a bridge may ask for it on each dispatch. */
  handlersOf(slot: FamilyState): readonly PlannedHandler[] {
    const plan = this.planOf(slot);
    slot.handlers ??= Object.freeze([...plan.entries, ...plan.absent].map(plannedHandler));
    return slot.handlers;
  }

  #limit(slot: FamilyState, entry: Entry, family: string): void {
    const { limits, services } = this.#with;
    const count = slot.entries.size;
    if (count >= limits.refuseAt)
      throw kernelError('too-many-handlers', { ...authorOf(entry), family, count });
    if (count + 1 < limits.warnAt || slot.warned) return;
    slot.warned = true;
    services.logger.warn(`"${family}" has ${count + 1} handlers; the last is ${nameOf(entry)}`);
  }

  #replan(slot: FamilyState): void {
    slot.plan = undefined;
    slot.bands = {};
    slot.handlers = undefined;
  }

  *#stages(): Generator<Stage> {
    for (const { stage } of this.#slots.values()) yield stage;
  }

  #instrumented(entry: Entry): Entry {
    const { instrument } = this.#options;
    const { family, handler, class: handlerClass } = entry;
    const of = { ...authorOf(entry), family, class: handlerClass };
    const own = instrument === undefined ? entry : { ...entry, handler: instrument(handler, of) };
    const audited = own.traits.mode === 'audit' ? this.#with.parts?.auditedEntry : undefined;
    return audited?.(own, this.#with.services.logger) ?? own;
  }

  #place(entry: Entry, standIn: Entry | undefined): void {
    const slot = this.slot(entry.family);
    if (!slot.entries.has(entry)) return;
    if (standIn === undefined) slot.standIns.delete(entry);
    else slot.standIns.set(entry, standIn);
    this.#replan(slot);
  }
}

function plannedHandler(entry: Entry): PlannedHandler {
  return Object.freeze({
    ...authorOf(entry),
    class: entry.class,
    band: entry.band,
    priority: entry.priority,
    timeoutMs: entry.timeoutMs,
    policy: entry.policy,
    detached: entry.code === codes.detached,
    recheck: entry.traits.recheck,
    previewOk: entry.traits.previewOk,
    mode: entry.traits.mode,
    match: entry.traits.match,
    operatorMatch: entry.traits.operatorMatch,
    disabled: entry.absent === 'disabled',
    quarantined: entry.standsFor !== undefined,
  });
}
