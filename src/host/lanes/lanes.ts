import { getOrMake } from 'sluice-kernel/internal';
import type { ReloadGate } from './gate.js';
import type { Slots } from './slots.js';
import { noPlace, type Place, placeOf } from './slots.js';

interface Lane {
  /** Jobs that run or wait. */
  jobs: number;
  /** Jobs that wait for those before them, in their order. */
  readonly waiting: (() => void)[];
  /** Somebody was told that it is full. */
  isTold: boolean;
  readonly waitingForRoom: (() => void)[];
}

/** The conditions that jobs of lanes wait for besides the job before them. */
export interface LaneRules {
  /** Jobs in one lane from which on it is full. */
  readonly capacity: number;
  /** Jobs in all lanes together from which on each is full. */
  readonly capacityOfAll?: number;
  /** Each job passes it before it begins. */
  readonly gate?: ReloadGate;
  /** A job that does not run at once takes one of these. */
  readonly slots?: Slots;
}

/**
 * Keeps the order of what belongs together: jobs of one lane run one after another, jobs of different lanes side
 * by side. A lane without jobs is dropped.
 *
 * @example
 * const lanes = new Lanes({ capacity: 100 });
 * await lanes.run('console:ada', () => answer(message));
 */
export class Lanes {
  readonly #rules: LaneRules;
  readonly #capacityOfAll: number;
  readonly #lanes = new Map<string, Lane>();
  /** Lanes that have no job, and of which somebody was told that all together are full. */
  readonly #told = new Set<string>();
  #jobs = 0;
  #waitingForIdle: (() => void)[] = [];
  /** In the order of their coming: none is passed over for ever. */
  #waitingForAnyRoom: (() => void)[] = [];

  constructor(rules: LaneRules) {
    this.#rules = rules;
    this.#capacityOfAll = rules.capacityOfAll ?? Number.POSITIVE_INFINITY;
  }

  /** How many lanes have jobs. */
  get size(): number {
    return this.#lanes.size;
  }

  /** Jobs in one lane from which on it is full. */
  get capacity(): number {
    return this.#rules.capacity;
  }

  /** Jobs that run or wait, in all lanes. */
  get jobs(): number {
    return this.#jobs;
  }

  /** Returns whether a lane has no job. */
  isIdle(key: string): boolean {
    return !this.#lanes.has(key);
  }

  /** Returns whether all lanes together have as many jobs as they may. */
  get areFull(): boolean {
    return this.#jobs >= this.#capacityOfAll;
  }

  /** Returns whether a lane, or all of them together, has as many jobs as it may. */
  isFull(key: string): boolean {
    return this.areFull || (this.#lanes.get(key)?.jobs ?? 0) >= this.#rules.capacity;
  }

  /**
   * Returns whether somebody is to hear that a lane is full: once, until half of it is free again.
   */
  isToNotify(key: string): boolean {
    const lane = this.#lanes.get(key);
    if (lane === undefined) {
      if (this.#told.has(key) || this.#told.size >= this.#capacityOfAll) return false;
      this.#told.add(key);
      return true;
    }
    const isFirst = !lane.isTold;
    lane.isTold = true;
    return isFirst;
  }

  /**
   * Runs a job when those before it in its lane are done, and when there is a slot for it. The place in the lane is taken
   * before this returns its promise.
   *
   * @param runsAtOnce it takes no slot: it waits for nothing but those before it in its lane.
   */
  run<T>(
    key: string,
    job: (place: Place) => Promise<T>,
    { runsAtOnce = false }: { readonly runsAtOnce?: boolean } = {},
  ): Promise<T> {
    return this.#inLane(key, () => (runsAtOnce ? this.#begin(job, noPlace) : this.#inSlot(job)));
  }

  async #inLane<T>(key: string, job: () => Promise<T>): Promise<T> {
    const lane = getOrMake(this.#lanes, key, () => ({
      ...{ jobs: 0, waiting: [], isTold: false, waitingForRoom: [] },
    }));
    this.#jobs++;
    const isNext = lane.jobs++ === 0;
    try {
      if (!isNext) await new Promise<void>((resolve) => lane.waiting.push(resolve));
      return await job();
    } finally {
      this.#done(key, lane);
    }
  }

  /** Runs a job at once if it waits for nothing: neither for its lane, nor for the gate, nor for a slot. */
  runNow<T>(key: string, job: (place: Place) => Promise<T>): Promise<T> | undefined {
    const { gate, slots } = this.#rules;
    if (slots === undefined || gate?.isOpen === false || !this.isIdle(key) || this.areFull)
      return undefined;
    if (!slots.takeNow()) return undefined;
    const run = () => this.#inLane(key, () => job(placeOf(slots)));
    return (gate === undefined ? run() : gate.pass(run)).finally(() => slots.give());
  }

  /** Resolves when a lane, and all of them together, have room for another job. */
  async room(key: string): Promise<void> {
    while (this.isFull(key)) {
      const lane = this.#lanes.get(key);
      const isLaneFull = lane !== undefined && lane.jobs >= this.#rules.capacity;
      await new Promise<void>((resolve) => {
        if (isLaneFull) lane.waitingForRoom.push(resolve);
        else this.#waitingForAnyRoom.push(resolve);
      });
      // it may not use the room: in the next turn of the event loop what is left of it is another's
      setImmediate(() => this.#notifyRoom(lane));
    }
  }

  /** Resolves when no lane has a job. */
  async idle(): Promise<void> {
    while (this.#lanes.size > 0)
      await new Promise<void>((resolve) => {
        this.#waitingForIdle.push(resolve);
      });
  }

  async #inSlot<T>(job: (place: Place) => Promise<T>): Promise<T> {
    const { slots } = this.#rules;
    if (slots === undefined) return this.#begin(job, noPlace);
    await this.#slotBehindGate(slots);
    try {
      return await this.#begin(job, placeOf(slots));
    } finally {
      slots.give();
    }
  }

  /** No slot is held while the gate is closed: what has begun may need one to come to its end. */
  async #slotBehindGate(slots: Slots): Promise<void> {
    const { gate } = this.#rules;
    await slots.take();
    while (gate !== undefined && !gate.isOpen) {
      slots.give();
      await gate.opened();
      await slots.retake(); // it was its turn
    }
  }

  #begin<T>(job: (place: Place) => Promise<T>, place: Place): Promise<T> {
    const { gate } = this.#rules;
    return gate === undefined ? job(place) : gate.pass(() => job(place));
  }

  /** Tells one who waits for room among all, and one who waits for room in a lane, if there is any. */
  #notifyRoom(lane: Lane | undefined): void {
    if (!this.areFull) this.#waitingForAnyRoom.shift()?.();
    if (lane !== undefined && lane.jobs < this.#rules.capacity) lane.waitingForRoom.shift()?.();
  }

  #done(key: string, lane: Lane): void {
    lane.jobs--;
    this.#jobs--;
    lane.waiting.shift()?.();
    if (lane.jobs * 2 <= this.#rules.capacity) lane.isTold = false;
    if (this.#jobs * 2 <= this.#capacityOfAll) this.#told.clear();
    this.#notifyRoom(lane);
    if (lane.jobs > 0) return;
    this.#lanes.delete(key);
    for (const resolve of lane.waitingForRoom) resolve();
    if (this.#lanes.size > 0) return;
    for (const resolve of this.#waitingForIdle.splice(0)) resolve();
  }
}
