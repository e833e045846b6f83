export {
  type ApprovalAnswer,
  type ApprovalRequest,
  type Approvals,
  judgeAsking,
} from './approvals.js';
export { resultText } from './judged/tool-result.js';
export type {
  RunDispatcherOptions,
  RunFallback,
  RunInput,
  RunProvider,
  RunStart,
  RunStop,
} from './run-bounds.js';
export { driveRun, HeldKeys, isRunDriven } from './run-bounds.js';
export { RunDispatcher } from './run-dispatcher.js';
export { addUsage } from './run-end.js';
export {
  isSuspended,
  RunFailure,
  RunSuspended,
  whenPassed,
  whyNot,
} from './run-failure.js';
export type { RunError, RunFields, RunReport, RunSession } from './run-fields.js';
export { Trail, type TrailRefs } from './trail.js';
export { placeholderOf } from './transcript-writer.js';
