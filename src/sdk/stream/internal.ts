// The names of this layer that other layers and tests use. They are no part of the package.

export { stopOf } from './agent-trigger.js';
export { streamError } from './errors.js';
export { traceEvent } from './event-trace.js';
export { Backlog } from './flow/backlog.js';
export { inOrder } from './flow/in-order.js';
export { Recent } from './flow/recent.js';
export { anySignal, nodeSignal, Stop, type StopSignal } from './flow/stop.js';
export { grownBy } from './growing-text.js';
export * from './ordering/check-ordering.js';
export * from './ordering/ordering-checker.js';
export type * from './ordering/ordering-violation.js';
export { attachedFiles } from './prompt/attached-files.js';
export { modelHistory } from './prompt/model-history.js';
export { openCalls, withoutCalls } from './prompt/open-calls.js';
export { surroundingsOf, withSurroundings } from './prompt/surroundings.js';
export { fixSchema } from './tool/fix-schema.js';
export { toolProblem } from './tool/tool-problem.js';
