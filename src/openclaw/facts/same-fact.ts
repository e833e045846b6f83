import {
  type AsyncFamily,
  type Clock,
  deferred,
  getOrMake,
  type Outcome,
  perKernel,
  systemClock,
} from 'sluice-kernel/internal';

/** The legacy buses that may tell of one fact. */
export type FactBus = 'plugin-hooks' | 'internal-hooks' | 'agent-events';

/** The subject of a fact. `factOf` makes it of a canonical payload. */
export interface FactIdentity<F extends AsyncFamily = AsyncFamily> {
  /** The canonical family that the fact is dispatched to. */
  readonly family: F;
  /**
   * Texts that identify it within the family: two announcements that share one may be of the same fact. Empty where
   * the bus does not say what it is about: it is then the latest one that another bus has just told of.
   */
  readonly names: readonly string[];
}

/** The bounds of the memory for facts. */
export interface SameFactOptions {
  readonly clock?: Clock;
  /** Facts that are remembered at most; 4,096 by default. The one that was touched longest ago goes first. */
  readonly maxFacts?: number;
  /** Milliseconds that another bus may come later than the end of the dispatch; 60,000 by default. */
  readonly maxAgeMs?: number;
}

/** How long after another bus an announcement that names nothing still means the same fact. */
const namelessMs = 1_000;

interface Fact extends FactIdentity {
  /** The buses that have told of it. */
  readonly buses: Set<FactBus>;
  outcome: Promise<Outcome>;
  /** On the monotonic clock: when it was last told of, or when its dispatch ended. */
  touchedMs: number;
}

/** The facts that the legacy buses of one kernel have announced lately. */
export class SameFact {
  readonly #clock: Clock;
  readonly #maxFacts: number;
  readonly #maxAgeMs: number;
  /** In order of being touched. */
  readonly #facts = new Set<Fact>();
  /** The facts of a family and a name, in order of their dispatch. */
  readonly #byName = new Map<string, Set<Fact>>();
  readonly #attached = new Set<FactBus>();
  readonly #counts = { dispatched: 0, joined: 0 };

  constructor({ clock = systemClock, maxFacts = 4_096, maxAgeMs = 60_000 }: SameFactOptions = {}) {
    this.#clock = clock;
    this.#maxFacts = maxFacts;
    this.#maxAgeMs = maxAgeMs;
  }

  /**
   * Announces a fact. The first bus to tell of it dispatches, in its own stack; a bus that tells of it later gets
   * the outcome of that dispatch and dispatches nothing. A bus's n-th announcement of an identity is the same fact
   * as another bus's n-th; one bus that tells twice has told two facts.
   *
   * If the first dispatch is refused (a bad payload, a closed kernel), the next bus dispatches itself.
   */
  announce<F extends AsyncFamily>(
    bus: FactBus,
    identity: FactIdentity<F>,
    dispatch: () => Promise<Outcome<F>>,
  ): Promise<Outcome<F>> {
    const begin = dispatch as () => Promise<Outcome>;
    this.#forgetOld();
    const fact = this.#find(bus, identity);
    const outcome =
      fact === undefined ? this.#told(bus, identity, begin) : this.#joined(bus, fact, begin);
    return outcome as Promise<Outcome<F>>; // a fact is only found by an identity of its own family
  }

  /**
   * Says that a host calls a bus on this kernel. Where several buses tell of a fact, and the later one can change
   * what happens, the earlier ones leave the dispatch to it.
   */
  attach(bus: FactBus): void {
    this.#attached.add(bus);
  }

  isAttached(bus: FactBus): boolean {
    return this.#attached.has(bus);
  }

  /**
   * The facts that are remembered now, and the counts of the announcements: those that were dispatched, and those
   * that were given the outcome of another bus's dispatch.
   */
  stats() {
    return { remembered: this.#facts.size, ...this.#counts };
  }

  /** The oldest fact of a name that the bus has not told of; without names the latest of the family. */
  #find(bus: FactBus, { family, names }: FactIdentity): Fact | undefined {
    for (const name of names)
      for (const fact of this.#byName.get(keyOf(family, name)) ?? [])
        if (!fact.buses.has(bus)) return fact;
    if (names.length > 0) return undefined;
    const sinceMs = this.#clock.monotonicMs() - namelessMs;
    const isMeant = (fact: Fact): boolean =>
      fact.family === family && !fact.buses.has(bus) && fact.touchedMs >= sinceMs;
    return [...this.#facts].findLast(isMeant);
  }

  async #told(bus: FactBus, about: FactIdentity, dispatch: () => Promise<Outcome>) {
    this.#counts.dispatched++;
    const { promise: outcome, resolve: settle } = deferred<Outcome>();
    // It is there before the dispatch begins: a handler may announce it on another bus.
    const fact: Fact = { ...about, buses: new Set([bus]), outcome, touchedMs: 0 };
    for (const name of fact.names)
      getOrMake(this.#byName, keyOf(fact.family, name), () => new Set<Fact>()).add(fact);
    this.#touch(fact);
    const [oldest] = this.#facts;
    if (this.#facts.size > this.#maxFacts && oldest !== undefined) this.#forget(oldest);
    settle(begun(dispatch));
    try {
      return await outcome;
    } finally {
      if (this.#facts.has(fact)) this.#touch(fact);
    }
  }

  #joined(bus: FactBus, fact: Fact, dispatch: () => Promise<Outcome>): Promise<Outcome> {
    this.#counts.joined++;
    fact.buses.add(bus);
    this.#touch(fact);
    fact.outcome = fact.outcome.catch(() => begun(dispatch));
    return fact.outcome;
  }

  #touch(fact: Fact): void {
    fact.touchedMs = this.#clock.monotonicMs();
    this.#facts.delete(fact);
    this.#facts.add(fact);
  }

  #forgetOld(): void {
    const beforeMs = this.#clock.monotonicMs() - this.#maxAgeMs;
    for (const fact of this.#facts) {
      if (fact.touchedMs >= beforeMs) return;
      this.#forget(fact);
    }
  }

  #forget(fact: Fact): void {
    this.#facts.delete(fact);
    for (const name of fact.names) {
      const key = keyOf(fact.family, name);
      const left = this.#byName.get(key);
      left?.delete(fact);
      if (left?.size === 0) this.#byName.delete(key);
    }
  }
}

/**
 * The facts of a kernel, shared by every bridge on it. Options count where it is made: at the first call.
 *
 * @example
 * const outcome = await sameFact(kernel).announce(
 *   'internal-hooks',
 *   { family: 'ingress.normalized', names: ['telegram|default|c-1|m-7'] },
 *   () => kernel.dispatch('ingress.normalized', payload),
 * );
 */
export const sameFact = perKernel((_, options: SameFactOptions = {}) => new SameFact(options));

function keyOf(family: string, name: string): string {
  return `${family} ${name}`;
}

/** Begins a dispatch in the caller's stack; what it throws at once is a rejection as well. */
async function begun(dispatch: () => Promise<Outcome>): Promise<Outcome> {
  return dispatch();
}
