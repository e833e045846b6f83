import type { KernelLimits, PlannedHandler, StageInfo } from '../contract/contract.js';
import { entryOf, type RawContribution } from '../contract/contribution.js';
import type { Instrument } from '../contract/instrument.js';
import { kernelError } from '../errors.js';
import { authorOf, codes, type Entry, nameOf } from '../outcome/entry.js';
import type { TakenData } from '../outcome/given.js';
import type { Author } from '../outcome/outcome.js';
import { auditedEntry } from '../run/audit.js';
import { compileMerges } from '../run/services/merges.js';
import { bandPlan, buildPlan, type Plan } from '../run/services/plan.js';
import { Quarantine, type QuarantineOptions } from '../run/services/quarantine.js';
import type { Services, StageMerges } from '../run/services/services.js';
import { type PayloadCheck, payloadCheck } from '../stage/payload.js';
import type { Stage } from '../stage/stage.js';
import type { Band } from '../stage/vocabulary.js';
import { nearest } from '../value/nearest.js';
import { Grants } from './grants.js';
import { checkOverride, type OperatorChanges, overrideOf } from './override-of.js';

/** Everything that is kept of one family. What is compiled or sorted is made when it is first needed. */
export interface FamilyState {
  readonly stage: Stage;
  readonly entries: Set<Entry>;
  /** The entry that stands in the plan in place of another. */
  readonly standIns: Map<Entry, Entry>;
  plan: Plan | undefined;
  /** The parts of the plan, where somebody dispatched to one of them. */
  bands: Partial<Record<Band, Plan>>;
  /** The plan as it is told, where somebody asked. */
  handlers: readonly PlannedHandler[] | undefined;
  check: PayloadCheck | undefined;
  merges: StageMerges | undefined;
  warned: boolean;
}

/** The options of a registry. */
interface RegistryOptions extends OperatorChanges {
  readonly stages: readonly Stage[];
  readonly grants: Readonly<Record<string, readonly string[]>>;
  readonly leastPrivilege: boolean;
  readonly quarantine: QuarantineOptions | undefined;
  readonly instrument: Instrument | undefined;
  readonly limits: KernelLimits;
  readonly generateCode: boolean;
  readonly services: Services;
}

/** The contributions of each stage. Registering one thing costs nothing elsewhere (spec §3). */
export class Registry {
  readonly #options: RegistryOptions;
  readonly #slots = new Map<string, FamilyState>();
  readonly #owners = new Map<string, Map<string, Entry>>();
  readonly #grants: Grants;
  /** Absent where it is switched off. */
  readonly quarantine: Quarantine | undefined;
  /** The data that was taken last. It may lead to a handler, so it is forgotten when one goes. */
  taken: TakenData = {};
  #size = 0;

  constructor(options: RegistryOptions) {
    this.#options = options;
    for (const stage of options.stages) {
      const { family } = stage;
      if (this.#slots.has(family)) throw kernelError('duplicate-family', { family });
      this.#slots.set(family, {
        stage,
        entries: new Set(),
        standIns: new Map(),
        plan: undefined,
        bands: {},
        handlers: undefined,
        check: undefined,
        merges: undefined,
        warned: false,
      });
    }
    this.#grants = new Grants(options);
    this.quarantine =
      options.quarantine &&
      new Quarantine(options.quarantine, options.services, (entry, standIn) =>
        this.#place(entry, standIn),
      );
    for (const [key, override] of Object.entries(options.overrides)) checkOverride(key, override);
  }

  /** How many contributions there are. */
  get size(): number {
    return this.#size;
  }

  /** @throws SluiceError `unknown-family`, naming the nearest. */
  slot(family: string, whose = ''): FamilyState {
    const slot = this.#slots.get(family);
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
    const checked = entryOf(
      given,
      slot.stage,
      this.#stages(),
      overrideOf(given, this.#options),
      this.#grants.fieldsOf(given.extensionId, slot.stage),
      this.#options.services.logger,
    );
    const entry = this.#instrumented(checked);
    if (!this.#grants.allows(entry.extensionId, entry.class, family)) {
      const who = authorOf(entry);
      throw kernelError('not-granted', {
        ...who,
        family,
        whose: nameOf(entry),
        missing: `${entry.class}:${family}`,
        asks: `"${entry.class}:${family}"`,
      });
    }
    let own = this.#owners.get(entry.extensionId);
    const existing = own?.get(entry.contributionId)?.family;
    if (existing !== undefined)
      throw kernelError('duplicate-contribution', { ...authorOf(entry), existing });
    this.#limit(slot, entry, family);
    if (own === undefined) {
      own = new Map();
      this.#owners.set(entry.extensionId, own);
    }
    own.set(entry.contributionId, entry);
    slot.entries.add(entry);
    this.#replan(slot);
    this.#size++;
    return { [Symbol.dispose]: () => this.#withdraw(entry) };
  }

  /** Returns whether an extension may do a thing that a grant names. */
  may(extensionId: string, grant: string): boolean {
    return this.#grants.may(extensionId, grant);
  }

  /** @throws SluiceError `not-granted` where a handler may not dispatch a family, which is the host's. */
  checkDispatch(author: Author, { stage }: FamilyState): void {
    if (this.#grants.mayDispatch(author.extensionId, stage)) return;
    const grant = `dispatch:${stage.family}`;
    const { extensionId, contributionId } = author;
    throw kernelError('not-granted', {
      ...{ extensionId, contributionId, family: stage.family, whose: nameOf(author) },
      ...{ missing: grant, asks: `"${grant}"`, requested: '' },
    });
  }

  /** Returns whether each handler of an extension is audited. */
  isAudited(extensionId: string): boolean {
    return this.#options.audit.includes(extensionId);
  }

  /** Gives an extension more, for what it contributes from now on. */
  grant(extensionId: string, grants: readonly string[]): Disposable {
    return this.#grants.add(extensionId, grants);
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
    this.#options.services.counters.plansBuilt++;
    slot.plan = buildPlan(this.#options.services, slot.stage, placed);
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
    slot.merges ??= compileMerges(slot.stage, this.#options.generateCode);
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
    const { limits, services } = this.#options;
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
    return own.traits.mode === 'audit' ? auditedEntry(own, this.#options.services.logger) : own;
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
