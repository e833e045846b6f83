export * from './compare-parity.js';
export { type ParityDifference, parityDifferences } from './differences.js';
export { openclawHookRunner } from './openclaw-runner.js';
export * from './parity-run.js';
export { type ParitySuite, paritySuite } from './parity-suite.js';
export { type PipelineRunnerOptions, pipelineRunner } from './pipeline-runner.js';
export type { ParityPlugin } from './plugin-handlers.js';
export * from './watches.js';
