export { attachedFiles } from './attached-files.js';
export { driveRun, HeldKeys, isRunDriven } from './driven-runs.js';
export type { RunFallback, RunInput, RunStart } from './run-bounds.js';
export {
  RunDispatcher,
  type RunDispatcherOptions,
  type RunProvider,
  type RunStop,
} from './run-dispatcher.js';
export { mustPass, RunFailure, whyNot } from './run-failure.js';
export type { RunError, RunFields, RunReport, RunSession } from './run-fields.js';
export { resultText } from './tool-calls.js';
export { Trail, type TrailRefs } from './trail.js';
export { addUsage } from './usage.js';
