import type { Clock, TimerHandle } from '../../kernel/index.js';

/** The timers of one run, by name: setting one takes the one before it back. */
export class RunTimers<Name extends string> {
  readonly #clock: Clock;
  readonly #timers = new Map<Name, TimerHandle>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(name: Name): boolean {
    return this.#timers.has(name);
  }

  set(name: Name, delayMs: number, callback: () => void): void {
    this.clear(name);
    const timer = this.#clock.setTimeout(() => {
      this.#timers.delete(name);
      callback();
    }, delayMs);
    this.#timers.set(name, timer);
  }

  clear(name: Name): void {
    const timer = this.#timers.get(name);
    if (timer !== undefined) this.#clock.clearTimeout(timer);
    this.#timers.delete(name);
  }

  clearAll(): void {
    for (const name of [...this.#timers.keys()]) this.clear(name);
  }
}
