import './errors.js'; // merges the codes of this layer into ErrorCode

export type { SessionEvent, SessionMessage } from '@sluice/sdk/stream';
export {
  assertOrdering,
  checkOrdering,
  type OrderingChecker,
  type OrderingRule,
  type OrderingViolation,
  orderingChecker,
} from '@sluice/sdk/stream/internal';
export { bridgeCsdk, type CsdkBridge, type ObservingBridge } from './bridge/bridge-csdk.js';
export type { BridgeOptions } from './bridge/bridge-options.js';
export { bridgeQuery, type QueryBridge, type QueryBridgeOptions } from './bridge/bridge-query.js';
export type * from './coder/blocks/coder-event.js';
export { type CoderStreamOptions, coderStream } from './coder/coder-stream.js';
export { type CoderEventsOptions, toCoderEvents } from './coder/to-coder-events.js';
export { type CallbackQueue, type CsdkCallback, callbackQueue } from './frames/callback.js';
export type { CsdkFrame } from './frames/frame.js';
export { type MalformedLine, readFrames } from './frames/read-frames.js';
export type * from './gate/sdk-callbacks.js';
export type { SdkQuestions } from './gate/sdk-question.js';
export { type CsdkToolGate, type ToolGateOptions, toolGate } from './gate/tool-gate.js';
export { type LiveRunsOptions, liveRuns } from './runs/live-runs.js';
export { normalizeSession } from './runs/normalize-session.js';
export type { RunsEnd } from './runs/run-ends.js';
export { splitRuns } from './runs/split-runs.js';
export type { NormalizeOptions } from './session/normalize-options.js';
export type { DiagnosticFact, SessionDiagnostic } from './session/session-diagnostic.js';
export type { ToolPartial } from './session/tool-partial.js';
export { subagentOf } from './subagents/subagent-of.js';
