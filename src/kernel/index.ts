// The names of this layer that authors import from `sluice`.

export { previewObstacles } from './contract/may-match.js';
export { type ExplainLine, explain } from './explain/explain.js';
export * from './names.js';
export { canonicalStages, createKernel } from './surface/family-kernel.js';
