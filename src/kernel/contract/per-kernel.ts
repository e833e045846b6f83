import { kernelError } from '../errors.js';
import { getOrMake } from '../value/get-or-make.js';
import type { Kernel } from './contract.js';

/**
 * Keeps one object for each kernel, as if it were a private field of that kernel: no two kernels share it, and it lives
 * no longer than its kernel.
 *
 * @param make makes the object when a kernel is first asked about, with the further arguments of that first call.
 * @returns the function that gives a kernel's object. It throws SluiceError `bad-option` if its argument is no kernel:
 *   a host may come from a system whose functions take no kernel.
 * @example
 * const countsOf = perKernel(() => new Map<string, number>());
 * countsOf(kernel).set('runs', 1);
 */
export function perKernel<Kept extends object, Rest extends readonly unknown[]>(
  make: (kernel: Kernel, ...rest: Rest) => Kept,
): (kernel: Kernel, ...rest: Rest) => Kept {
  const all = new WeakMap<Kernel, Kept>();
  return (kernel, ...rest) => {
    const problem = 'the first argument is no kernel; give what createKernel() returned';
    if (typeof Object(kernel).dispatch !== 'function')
      throw kernelError('bad-option', { option: 'kernel', problem });
    return getOrMake(all, kernel, () => make(kernel, ...rest));
  };
}
