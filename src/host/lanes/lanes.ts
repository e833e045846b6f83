import { deferred } from 'sluice-kernel/internal';
import type { ReloadGate } from './gate.js';

/**
 * Keeps the order of what belongs together: jobs of one lane run one after another, jobs of different lanes side
 * by side. A lane without jobs is dropped.
 *
 * @example
 * const lanes = new Lanes();
 * await lanes.run('console:ada', () => answer(message));
 */
export class Lanes {
  readonly #gate: ReloadGate | undefined;
  /** Resolves when the last job of a lane is done. */
  readonly #lanes = new Map<string, Promise<void>>();
  #jobs = 0;

  /** @param gate each job passes it before it begins. */
  constructor(gate?: ReloadGate) {
    this.#gate = gate;
  }

  /** How many lanes have jobs. */
  get size(): number {
    return this.#lanes.size;
  }

  /** Jobs that run or wait, in all lanes. */
  get jobs(): number {
    return this.#jobs;
  }

  /** Runs a job when those before it in its lane are done. The place in the lane is taken before this returns its promise. */
  async run<T>(key: string, job: () => Promise<T>): Promise<T> {
    const before = this.#lanes.get(key);
    const { promise: done, resolve } = deferred();
    this.#lanes.set(key, done);
    this.#jobs++;
    try {
      await before;
      return await (this.#gate === undefined ? job() : this.#gate.pass(job));
    } finally {
      this.#jobs--;
      if (this.#lanes.get(key) === done) this.#lanes.delete(key);
      resolve();
    }
  }

  /** Resolves when no lane has a job. */
  async idle(): Promise<void> {
    while (this.#lanes.size > 0) for (const done of this.#lanes.values()) await done;
  }
}
