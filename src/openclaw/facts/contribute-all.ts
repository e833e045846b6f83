import type { OpenContribution, OpenKernel } from 'sluice-kernel/internal';

/**
 * Makes several contributions, or none: where one is refused, those before it are taken back.
 *
 * @throws SluiceError as `kernel.contribute` does.
 */
export function contributeAll(
  kernel: OpenKernel,
  contributions: readonly OpenContribution[],
): Disposable {
  const made: Disposable[] = [];
  const undo = { [Symbol.dispose]: () => made.forEach((one) => void one[Symbol.dispose]()) };
  try {
    for (const contribution of contributions) made.push(kernel.contribute(contribution));
  } catch (error) {
    undo[Symbol.dispose]();
    throw error;
  }
  return undo;
}
