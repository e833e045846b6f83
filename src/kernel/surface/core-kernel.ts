import { type CoreKernel, type CoreOptions, operatorOptions } from '../contract/core-contract.js';
import { kernelError } from '../errors.js';
import { PipelineKernel } from './kernel.js';

/**
 * Makes a kernel of the stages that it is given.
 *
 * @throws SluiceError `duplicate-family` or `bad-option`.
 * @example
 * const kernel = createKernel({ stages: [billingChecking] });
 */
export function createKernel(options: CoreOptions): CoreKernel {
  for (const option of operatorOptions)
    if (Object(options)[option] !== undefined)
      throw kernelError('bad-option', { option, problem: 'only sluice-kernel has it' });
  return new PipelineKernel(options, undefined).open({});
}
