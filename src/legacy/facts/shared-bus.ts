import type { Kernel } from '../../kernel/index.js';

/** A bus that several users of one kernel share. */
export interface Shared<Bus> {
  readonly bus: Bus;
  /** Lets go of it. The last user to do so takes it off the kernel. */
  leave(): void;
}

interface Entry<Bus> {
  readonly bus: Bus;
  users: number;
}

/**
 * The buses of one kind, one per kernel: the legacy system has one per process, so that whoever registers on it and
 * whoever calls it meet. Kept like private fields of the kernels: each lives no longer than its kernel.
 */
export class SharedBuses<Bus extends Disposable> {
  readonly #entries = new WeakMap<Kernel, Entry<Bus>>();

  /** The bus of a kernel, made where there is none. */
  join(kernel: Kernel, make: () => Bus): Shared<Bus> {
    const entry = this.#entries.get(kernel) ?? { bus: make(), users: 0 };
    this.#entries.set(kernel, entry);
    entry.users++;
    let isIn = true;
    const leave = (): void => {
      if (!isIn) return;
      isIn = false;
      if (--entry.users > 0) return;
      this.#entries.delete(kernel);
      entry.bus[Symbol.dispose]();
    };
    return { bus: entry.bus, leave };
  }
}
