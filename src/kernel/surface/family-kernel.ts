// biome-ignore-all assist/source/organizeImports: the catalog comes last, so that code stands beside code and compresses better
import type { Kernel, KernelOptions } from '../contract/contract.js';
import { kernelErrors } from '../error-rows.js';
import { tellErrors } from '../errors.js';
import type { Grants } from '../registry/grants.js';
import { operatorParts } from '../registry/parts.js';
import { quietWithin, runningHandlers } from '../run/state/running.js';
import { PipelineKernel } from './kernel.js';
import { canonicalStages } from '../catalog/index.js';

export { canonicalStages };

tellErrors(kernelErrors);

/**
 * Makes a kernel. Unless the options say otherwise, it has the canonical stages.
 *
 * @throws SluiceError `duplicate-family` or `bad-option`.
 * @example
 * const kernel = createKernel({ trace: true });
 */
export function createKernel(options: KernelOptions = {}): Kernel {
  const isGiven = Object(options) === options; // the rest is refused
  const whole = isGiven ? { ...options, stages: options.stages ?? canonicalStages } : options;
  const kernel = new PipelineKernel(whole, operatorParts);
  const grants = kernel.registry.grants as Grants; // it has the parts of an operator
  const audited = new Set(options.audit);
  return kernel.open({
    running: () => runningHandlers(kernel),
    quiet: (extensionId: string, how?: { readonly timeoutMs?: number }) =>
      quietWithin(kernel, extensionId, how?.timeoutMs ?? 5_000),
    grant: (extensionId: string, more: readonly string[]) => grants.add(extensionId, more),
    may: (extensionId: string, grant: string) => grants.may(extensionId, grant),
    isAudited: (extensionId: string) => audited.has(extensionId),
    blame: (of: { readonly extensionId: string; readonly contributionId?: string }, why: string) =>
      kernel.blame(of, why),
  });
}
