import pLimit, { type LimitFunction } from 'p-limit';

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
  readonly #capacity: number;
  readonly #lanes = new Map<string, Lane>();
  #waitingForIdle: (() => void)[] = [];

  /** @param capacity jobs in one lane from which on `room` waits. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** How many lanes have jobs. */
  get size(): number {
    return this.#lanes.size;
  }

  /** Jobs that run or wait, in all lanes. */
  get jobs(): number {
    let jobs = 0;
    for (const lane of this.#lanes.values()) jobs += lane.jobs;
    return jobs;
  }

  /** Runs a job when those before it in its lane are done. The place in the lane is taken at once. */
  async run<T>(key: string, job: () => Promise<T>): Promise<T> {
    const lane = this.#lane(key);
    lane.jobs++;
    try {
      return await lane.limit(job);
    } finally {
      this.#done(key, lane);
    }
  }

  /** Resolves when a lane has room for another job. */
  async room(key: string): Promise<void> {
    for (let lane = this.#lanes.get(key); lane !== undefined; lane = this.#lanes.get(key)) {
      if (lane.jobs < this.#capacity) return;
      const { waitingForRoom } = lane;
      await new Promise<void>((resolve) => {
        waitingForRoom.push(resolve);
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
    lane.waitingForRoom.shift()?.();
    if (lane.jobs > 0) return;
    this.#lanes.delete(key);
    for (const resolve of lane.waitingForRoom) resolve();
    if (this.#lanes.size > 0) return;
    for (const resolve of this.#waitingForIdle.splice(0)) resolve();
  }
}
