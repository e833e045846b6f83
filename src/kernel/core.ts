// The names of `sluice-kernel/core`: the pipeline, without stages of its own and without an operator's tools.

export type { CoreKernel, CoreOptions } from './contract/core-contract.js';
export * from './names.js';
export { createKernel } from './surface/core-kernel.js';
