// The names of this layer that other layers and tests use. They are no part of the package.

export { attachedFiles } from './attached-files.js';
export { traceEvent } from './event-trace.js';
export { Backlog } from './flow/backlog.js';
export { Recent } from './flow/recent.js';
export { toolProblem } from './tool/tool-problem.js';
