import { kernelError } from '../../errors.js';
import { authorOf, codes, type Entry, nameOf } from '../../outcome/entry.js';
import type { Author, FailureKind } from '../../outcome/outcome.js';
import type { Clock, Logger, TimerHandle } from '../../stage/ports.js';
import { getOrMake } from '../../value/get-or-make.js';
import { oneLine } from '../../value/one-line.js';
import { isThenable } from '../../value/thenable.js';

/** When a handler is put in quarantine, and for how long. */
export interface QuarantineOptions {
  /** Failures within the window that put it there; by default 5. */
  readonly failures?: number;
  /** Milliseconds; by default 60 000. */
  readonly windowMs?: number;
  /** Milliseconds that it is left alone before it is tried again; by default 30 000. */
  readonly coolDownMs?: number;
}

/** A handler that is in quarantine, or on trial after it. */
export interface QuarantinedHandler extends Author {
  readonly family: string;
  readonly state: 'quarantined' | 'on-trial';
  /** On the monotonic clock. */
  readonly sinceMs: number;
  /** Its last failure, in one line. */
  readonly lastFailure: string;
}

/** The counts of a quarantine. */
export interface QuarantineCounters {
  quarantines: number;
  trials: number;
}

/** The parts of its kernel that it needs. */
interface Around {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly counters: QuarantineCounters;
}

interface Watched {
  readonly entry: Entry;
  /** When it failed last, up to as often as it may. */
  failedAtMs: number[];
  state: 'live' | QuarantinedHandler['state'];
  sinceMs: number;
  lastFailure: string;
  timer: TimerHandle | undefined;
  /** Which quarantine this is: a trial of an earlier one has nothing to say. */
  turn: number;
}

/** The kinds of a handler's own failures; the others are somebody else's doing. */
const counted: readonly FailureKind[] = [
  'threw',
  'timed-out',
  'async-in-sync',
  'bad-output',
  'wrote-payload',
  'untrusted',
];

/**
 * Leaves handlers alone that fail again and again (spec §12.6). Another entry stands in the plan for such a handler:
 * nothing is asked on dispatch.
 */
export class Quarantine {
  readonly #limits: Required<QuarantineOptions>;
  readonly #services: Around;
  readonly #place: (entry: Entry, standIn: Entry | undefined) => void;
  readonly #watched = new Map<Entry, Watched>();
  /** Withdrawn, while a dispatch may still run it. */
  readonly #forgotten = new WeakSet<Entry>();

  /** @param place puts a stand-in for an entry into its plan, or the entry itself again. */
  constructor(
    options: QuarantineOptions,
    services: Around,
    place: (entry: Entry, standIn: Entry | undefined) => void,
  ) {
    const { failures = 5, windowMs = 60_000, coolDownMs = 30_000 } = options;
    this.#limits = { failures, windowMs, coolDownMs };
    for (const [name, value] of Object.entries(this.#limits))
      if (!(Number.isFinite(value) && value > 0)) {
        const problem = `${name} must be a positive number, and it is ${String(value)}`;
        throw kernelError('bad-option', { option: 'quarantine', problem });
      }
    this.#services = services;
    this.#place = place;
  }

  /** Takes note of a failure. */
  failed(of: Entry, kind: FailureKind, message: string): void {
    const entry = of.standsFor ?? of;
    if (entry.traits.mode === 'audit') return; // judgement §3.4
    if (!counted.includes(kind) || this.#forgotten.has(entry)) return;
    const watched = this.#watch(entry);
    if (watched.state === 'quarantined') return; // of a dispatch that had begun before
    const { failures, windowMs } = this.#limits;
    const nowMs = this.#services.clock.monotonicMs();
    watched.lastFailure = message;
    watched.failedAtMs = [...watched.failedAtMs, nowMs].slice(-failures);
    const [first = 0] = watched.failedAtMs;
    const isFull = watched.failedAtMs.length >= failures && nowMs - first <= windowMs;
    if (watched.state === 'on-trial' || isFull) this.#enter(watched, nowMs);
  }

  /** Returns whether a handler threw it since it is in quarantine. */
  isCause(thrown: unknown): boolean {
    return standIns.has(Object(thrown));
  }

  /** A contribution is withdrawn. */
  forget(entry: Entry): void {
    const watched = this.#watched.get(entry);
    if (watched !== undefined) this.#stopWaiting(watched);
    this.#watched.delete(entry);
    this.#forgotten.add(entry);
  }

  list(): QuarantinedHandler[] {
    return [...this.#watched.values()].flatMap(({ entry, state, sinceMs, lastFailure }) =>
      state === 'live'
        ? []
        : [{ ...authorOf(entry), family: entry.family, state, sinceMs, lastFailure }],
    );
  }

  /** Stops its timers, so that no handler is tried again. */
  dispose(): void {
    for (const entry of [...this.#watched.keys()]) this.forget(entry);
  }

  #watch(entry: Entry): Watched {
    return getOrMake(this.#watched, entry, () => ({
      entry,
      failedAtMs: [],
      state: 'live',
      sinceMs: 0,
      lastFailure: '',
      timer: undefined,
      turn: 0,
    }));
  }

  #enter(watched: Watched, nowMs: number): void {
    const { entry, lastFailure } = watched;
    const { coolDownMs } = this.#limits;
    watched.state = 'quarantined';
    watched.sinceMs = nowMs;
    watched.turn++;
    this.#services.counters.quarantines++;
    this.#services.logger.warn(
      `${nameOf(entry)} on "${entry.family}" is in quarantine for ${coolDownMs} ms, ${isLoud(entry) ? `and fails ${entry.policy} meanwhile` : 'and is skipped meanwhile'}`,
      { ...authorOf(entry), family: entry.family, detail: lastFailure }, // what it threw: a log at debug alone shows it
    );
    this.#wait(watched);
    this.#place(entry, outEntry(entry, lastFailure));
  }

  #wait(watched: Watched): void {
    this.#stopWaiting(watched);
    watched.timer = this.#services.clock.setTimeout(
      () => this.#try(watched),
      this.#limits.coolDownMs,
    );
    watched.timer.unref?.(); // a trial is no reason to keep the process alive
  }

  #stopWaiting(watched: Watched): void {
    if (watched.timer !== undefined) this.#services.clock.clearTimeout(watched.timer);
    watched.timer = undefined;
  }

  #try(watched: Watched): void {
    watched.timer = undefined;
    watched.state = 'on-trial';
    const { entry, lastFailure, turn } = watched;
    const begun = (): void => {
      this.#services.counters.trials++;
      this.#wait(watched); // one that is aborted, or never settles, says nothing: then another follows
    };
    const passed = (): void => {
      if (watched.turn !== turn || watched.state !== 'on-trial') return;
      const { failures } = this.#limits;
      this.#stopWaiting(watched);
      watched.state = 'live';
      // on probation: one more failure within the window, and it is back in quarantine
      watched.failedAtMs = new Array<number>(failures - 1).fill(this.#services.clock.monotonicMs());
      this.#services.logger.info(`${nameOf(entry)} on "${entry.family}" is out of quarantine`, {
        ...authorOf(entry),
        family: entry.family,
      });
      this.#place(entry, undefined);
    };
    this.#place(entry, trialEntry(entry, lastFailure, begun, passed));
  }
}

/** Returns whether a quarantine is a failure, by the handler's policy. What only observes or adds is left out of the plan. */
function isLoud(entry: Entry): boolean {
  return entry.policy === 'closed' || entry.code === codes.veto || entry.code === codes.strictVeto;
}

function outEntry(entry: Entry, lastFailure: string): Entry {
  if (!isLoud(entry)) return { ...entry, standsFor: entry, absent: 'quarantined' };
  const handler = (): never => {
    throw notCalled(lastFailure);
  };
  return { ...entry, standsFor: entry, handler };
}

/** Lets one dispatch through to the handler; for the others it is still in quarantine. */
function trialEntry(
  entry: Entry,
  lastFailure: string,
  onTrial: () => void,
  passed: () => void,
): Entry {
  const { handler: original } = entry;
  let tried: unknown;
  const handler = (call: unknown, own: unknown): unknown => {
    const { event } = call as { readonly event: object }; // the kernel's own
    if (tried !== undefined && tried !== event) {
      if (isLoud(entry)) throw notCalled(lastFailure);
      return undefined;
    }
    if (tried === undefined) onTrial();
    tried = event; // a veto judges twice in one dispatch
    const result = original(call, own);
    if (typeof result !== 'object' || result === null || !isThenable(result)) {
      queueMicrotask(passed); // what is wrong with the result is found before that
      return result;
    }
    const settled = Promise.resolve(result); // a thenable's `then` is called once
    settled.then(passed, () => undefined);
    return settled;
  };
  return { ...entry, standsFor: entry, handler };
}

/** The errors that stand in for handlers that are not called. */
const standIns = new WeakSet<object>();

function notCalled(lastFailure: string): Error {
  const why = `it is in quarantine and was not called; it failed last with: ${oneLine(lastFailure)}`;
  const error = new Error(why);
  standIns.add(error);
  return error;
}
