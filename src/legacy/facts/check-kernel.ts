import { type Kernel, kernelError } from '../../kernel/index.js';

/**
 * Refuses what is no kernel, whatever its type says: a host that calls OpenClaw's functions as before gives none.
 *
 * @throws SluiceError `bad-option`.
 */
export function checkKernel(kernel: Kernel): void {
  const { dispatch } = Object(kernel) as { readonly dispatch?: unknown };
  if (typeof dispatch === 'function') return;
  throw kernelError('bad-option', {
    option: 'kernel',
    problem: 'the first argument is no kernel; give what createKernel() returned',
  });
}
