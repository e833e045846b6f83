import { canonicalStages } from '../catalog/index.js';
import type { Kernel, KernelOptions } from '../contract/contract.js';
import { createKernel as createCore } from './kernel.js';

/**
 * Makes a kernel. Unless the options say otherwise, it has the canonical stages.
 *
 * @throws SluiceError `duplicate-family` or `bad-option`.
 * @example
 * const kernel = createKernel({ trace: true });
 */
export function createKernel(options: KernelOptions = {}): Kernel {
  if (Object(options) !== options) return createCore(options as never); // which refuses it
  return createCore({ ...options, stages: options.stages ?? canonicalStages });
}
