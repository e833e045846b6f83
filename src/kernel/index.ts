// The names of this layer that authors import from `sluice`.

export { canonicalStages } from './catalog/index.js';
export * from './core.js';
export { createKernel } from './surface/family-kernel.js';
