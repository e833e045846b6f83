import { type Kernel, perKernel } from '../../kernel/index.js';

/** A bus that several users of one kernel share. */
export interface Shared<Bus> {
  readonly bus: Bus;
  /** Lets go of the bus. The last user to do so takes it off the kernel. */
  leave(): void;
}

/**
 * Shares one bus of a kind per kernel. The legacy system has one per process, so that handlers and callers meet.
 *
 * @param make makes the bus when its first user joins.
 */
export function sharedBus<Bus extends Disposable, Options>(
  make: (kernel: Kernel, options: Options) => Bus,
): (kernel: Kernel, options: Options) => Shared<Bus> {
  const slotOf = perKernel(() => ({ bus: undefined as Bus | undefined, users: 0 })); // no bus yet
  return (kernel, options) => {
    const slot = slotOf(kernel);
    const bus = (slot.bus ??= make(kernel, options));
    slot.users++;
    let isIn = true;
    const leave = (): void => {
      if (!isIn) return;
      isIn = false;
      if (--slot.users > 0) return;
      slot.bus = undefined;
      bus[Symbol.dispose]();
    };
    return { bus, leave };
  };
}
