import {
  type AsyncFamily,
  type Clock,
  deferred,
  type Outcome,
  perKernel,
  systemClock,
} from 'sluice-kernel/internal';

/** The legacy buses that may tell of one fact. */
export type FactBus = 'plugin-hooks' | 'internal-hooks' | 'agent-events';

/** The subject of a fact. `factOf` in fact-identity.ts makes it of a canonical payload. */
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

const allBuses: readonly FactBus[] = ['plugin-hooks', 'internal-hooks', 'agent-events'];

/**
 * The registry of a kernel, shared by every bridge on it. Options count where it is made: at the first call.
 *
 * @example
 * const outcome = await sameFact(kernel).announce(
 *   'internal-hooks',
 *   { family: 'ingress.normalized', names: ['telegram|default|c-1|m-7'] },
 *   () => kernel.dispatch('ingress.normalized', payload),
 * );
 */
export const sameFact = perKernel((_, options: SameFactOptions = {}) => factRegistry(options));

/** The facts that the legacy buses of one kernel have announced lately. */
export type SameFact = ReturnType<typeof factRegistry>;

function factRegistry(options: SameFactOptions) {
  const { clock = systemClock, maxFacts = 4_096, maxAgeMs = 60_000 } = options;
  /** In order of being touched. */
  const facts = new Set<Fact>();
  /** Per bus, family and name: the facts that this bus has not told of yet, in order of their dispatch. */
  const untold = new Map<string, Set<Fact>>();
  const attached = new Set<FactBus>();
  let dispatched = 0;
  let joined = 0;

  function find(bus: FactBus, { family, names }: FactIdentity): Fact | undefined {
    for (const name of names) {
      const [oldest] = untold.get(keyOf(bus, family, name)) ?? [];
      if (oldest !== undefined) return oldest;
    }
    if (names.length > 0) return undefined;
    const sinceMs = clock.monotonicMs() - namelessMs;
    return [...facts]
      .reverse()
      .find((fact) => fact.family === family && !fact.buses.has(bus) && fact.touchedMs >= sinceMs);
  }

  async function report(bus: FactBus, about: FactIdentity, dispatch: () => Promise<Outcome>) {
    dispatched++;
    const { promise: outcome, resolve: settle } = deferred<Outcome>();
    // It is there before the dispatch begins: a handler may announce it on another bus.
    const fact: Fact = { ...about, buses: new Set([bus]), outcome, touchedMs: 0 };
    for (const key of untoldKeys(fact)) untold.set(key, (untold.get(key) ?? new Set()).add(fact));
    touch(fact);
    for (const oldest of facts) {
      if (facts.size <= maxFacts) break;
      forget(oldest);
    }
    settle(begun(dispatch));
    try {
      return await outcome;
    } finally {
      if (facts.has(fact)) touch(fact);
    }
  }

  function join(bus: FactBus, fact: Fact, dispatch: () => Promise<Outcome>): Promise<Outcome> {
    joined++;
    for (const name of fact.names) leave(keyOf(bus, fact.family, name), fact);
    fact.buses.add(bus);
    touch(fact);
    fact.outcome = fact.outcome.catch(() => begun(dispatch));
    return fact.outcome;
  }

  function touch(fact: Fact): void {
    fact.touchedMs = clock.monotonicMs();
    facts.delete(fact);
    facts.add(fact);
  }

  function forgetOld(): void {
    const beforeMs = clock.monotonicMs() - maxAgeMs;
    for (const fact of facts) {
      if (fact.touchedMs >= beforeMs) return;
      forget(fact);
    }
  }

  function forget(fact: Fact): void {
    facts.delete(fact);
    for (const key of untoldKeys(fact)) leave(key, fact);
  }

  function leave(key: string, fact: Fact): void {
    const left = untold.get(key);
    left?.delete(fact);
    if (left?.size === 0) untold.delete(key);
  }

  return {
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
      forgetOld();
      const fact = find(bus, identity);
      const outcome =
        fact === undefined ? report(bus, identity, dispatch) : join(bus, fact, dispatch);
      return outcome as Promise<Outcome<F>>; // a fact is only found by an identity of its own family
    },
    /**
     * Says that a host calls a bus on this kernel. Where several buses tell of a fact, and the later one can change
     * what happens, the earlier ones leave the dispatch to it.
     */
    attach: (bus: FactBus): void => void attached.add(bus),
    isAttached: (bus: FactBus): boolean => attached.has(bus),
    /**
     * The facts that are remembered now, and the counts of the announcements: those that were dispatched, and those
     * that were given the outcome of another bus's dispatch.
     */
    stats: () => ({ remembered: facts.size, dispatched, joined }),
  };
}

/** The places where a fact waits for the buses that have not told of it. */
function untoldKeys({ family, names, buses }: Fact): string[] {
  return allBuses
    .filter((bus) => !buses.has(bus))
    .flatMap((bus) => names.map((name) => keyOf(bus, family, name)));
}

function keyOf(bus: FactBus, family: string, name: string): string {
  return `${bus} ${family} ${name}`;
}

/** Begins a dispatch in the caller's stack; what it throws at once is a rejection as well. */
async function begun(dispatch: () => Promise<Outcome>): Promise<Outcome> {
  return dispatch();
}
