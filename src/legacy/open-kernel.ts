import type { Given, HandlerClass, Kernel, Outcome } from '../kernel/index.js';

/** A contribution whose family is a row's to say. */
export interface OpenContribution {
  readonly family: string;
  readonly class: HandlerClass;
  readonly extensionId: string;
  readonly id: string;
  readonly detached?: boolean;
  readonly priority?: number;
  readonly timeoutMs?: number;
  readonly handler: (call: never) => unknown;
}

/** A kernel as a table of rows uses it: families are data there, so that the kernel's own checks take the types' place. */
export interface OpenKernel {
  contribute(contribution: OpenContribution): Disposable;
  dispatch(family: string, payload: object, given?: Given): Promise<Outcome>;
  dispatchSync(family: string, payload: object, given?: Given): Outcome;
  parsePayload(family: string, payload: unknown): object;
  has(family: string): boolean;
}

/** The same kernel, without its types of families. Payloads go through `parsePayload` first. */
export function openKernel(kernel: Kernel): OpenKernel {
  return kernel as unknown as OpenKernel;
}

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
