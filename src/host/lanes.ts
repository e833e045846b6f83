import pLimit, { type LimitFunction } from 'p-limit';
import type { Gate } from './gate.js';

interface Lane {
  readonly limit: LimitFunction;
  /** Jobs that run or wait. */
  jobs: number;
  readonly waitingForRoom: (() => void)[];
}

/**
 * Keeps the order of what belongs together: jobs of one lane run one after another, jobs of different lanes side
 * by side. A lane without jobs is dropped.
 *
 * @example
 * const lanes = new Lanes(100);
 * await lanes.run('console:ada', () => answer(message));
 */
export class Lanes {
  readonly #gate: Gate | undefined;
  readonly #capacity: number;
  readonly #capacityOfAll: number;
  readonly #lanes = new Map<string, Lane>();
  #jobs = 0;
  #waitingForIdle: (() => void)[] = [];
  /** In the order of their coming: none is passed over for ever. */
  #waitingForAnyRoom: (() => void)[] = [];

  /**
   * @param capacity jobs in one lane from which on `room` waits.
   * @param capacityOfAll jobs in all lanes together from which on it waits.
   * @param gate what each job waits at before it begins.
   */
  constructor(capacity: number, capacityOfAll = Number.POSITIVE_INFINITY, gate?: Gate) {
    this.#gate = gate;
    this.#capacity = capacity;
    this.#capacityOfAll = capacityOfAll;
  }

  /** How many lanes have jobs. */
  get size(): number {
    return this.#lanes.size;
  }

  /** Jobs that run or wait, in all lanes. */
  get jobs(): number {
    return this.#jobs;
  }

  /** Whether a lane, or all of them together, has as many jobs as it may. */
  isFull(key: string): boolean {
    return (this.#lanes.get(key)?.jobs ?? 0) >= this.#capacity || this.#jobs >= this.#capacityOfAll;
  }

  /** Runs a job when those before it in its lane are done. The place in the lane is taken at once. */
  async run<T>(key: string, job: () => Promise<T>): Promise<T> {
    const lane = this.#lane(key);
    lane.jobs++;
    this.#jobs++;
    try {
      const gate = this.#gate;
      return await lane.limit(gate === undefined ? job : () => gate.pass(job));
    } finally {
      this.#done(key, lane);
    }
  }

  /** Resolves when a lane, and all of them together, have room for another job. */
  async room(key: string): Promise<void> {
    while (this.isFull(key)) {
      const lane = this.#lanes.get(key);
      const isLaneFull = lane !== undefined && lane.jobs >= this.#capacity;
      await new Promise<void>((resolve) => {
        if (isLaneFull) lane.waitingForRoom.push(resolve);
        else this.#waitingForAnyRoom.push(resolve);
      });
    }
  }

  /** Resolves when no lane has a job. */
  async idle(): Promise<void> {
    while (this.#lanes.size > 0)
      await new Promise<void>((resolve) => {
        this.#waitingForIdle.push(resolve);
      });
  }

  #lane(key: string): Lane {
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      lane = { limit: pLimit(1), jobs: 0, waitingForRoom: [] };
      this.#lanes.set(key, lane);
    }
    return lane;
  }

  #done(key: string, lane: Lane): void {
    lane.jobs--;
    this.#jobs--;
    this.#waitingForAnyRoom.shift()?.();
    lane.waitingForRoom.shift()?.();
    if (lane.jobs > 0) return;
    this.#lanes.delete(key);
    for (const resolve of lane.waitingForRoom) resolve();
    if (this.#lanes.size > 0) return;
    for (const resolve of this.#waitingForIdle.splice(0)) resolve();
  }
}
