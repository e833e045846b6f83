import { type Kernel, perKernel } from 'sluice-kernel/internal';

/**
 * Shares one bus of a kind per kernel. The legacy system has one per process, so that handlers and callers meet.
 *
 * @param make makes the bus when its first user joins.
 * @returns how a user joins. Its `leave` lets go of the bus; that of the last user takes the bus off the kernel.
 */
export function sharedBus<Bus extends Disposable, Options>(
  make: (kernel: Kernel, options: Options) => Bus,
) {
  const slotOf = perKernel(() => ({ bus: undefined as Bus | undefined, users: 0 })); // no bus yet
  return (kernel: Kernel, options: Options) => {
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
