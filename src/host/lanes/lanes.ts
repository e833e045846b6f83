import { getOrMake } from 'sluice-kernel/internal';
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
  /** The jobs of a lane that wait for those before them, in their order. */
  readonly #lanes = new Map<string, (() => void)[]>();
  #jobs = 0;
  #waitingForIdle: (() => void)[] = [];

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

  /** Returns whether a lane has no job. */
  isIdle(key: string): boolean {
    return !this.#lanes.has(key);
  }

  /** Runs a job when those before it in its lane are done. The place in the lane is taken before this returns its promise. */
  async run<T>(key: string, job: () => Promise<T>): Promise<T> {
    if (!this.isIdle(key)) await new Promise<void>((resolve) => this.enter(key, resolve));
    else this.enter(key, () => undefined);
    try {
      return await (this.#gate === undefined ? job() : this.#gate.pass(job));
    } finally {
      this.leave(key);
    }
  }

  /** Takes a place in a lane. `leave` follows. @param onTurn called when those before it have left: at once, if there are none. */
  enter(key: string, onTurn: () => void): void {
    const isNext = this.isIdle(key);
    const waiting = getOrMake(this.#lanes, key, () => []);
    this.#jobs++;
    if (isNext) onTurn();
    else waiting.push(onTurn);
  }

  /** Lets the next one in a lane have its turn. */
  leave(key: string): void {
    this.#jobs--;
    const next = this.#lanes.get(key)?.shift();
    if (next === undefined) this.#lanes.delete(key);
    else next();
    if (this.#lanes.size === 0) for (const resolve of this.#waitingForIdle.splice(0)) resolve();
  }

  /** Resolves when no lane has a job. */
  async idle(): Promise<void> {
    while (this.#lanes.size > 0)
      await new Promise<void>((resolve) => {
        this.#waitingForIdle.push(resolve);
      });
  }
}
