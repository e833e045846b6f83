export { canonicalStages } from './catalog/index.js';
export type * from './contract.js';
export type { Override } from './contribution.js';
export { copyPlain } from './copy-plain.js';
export type { Envelope, Metadata, Ref } from './envelope.js';
export {
  type ErrorCode,
  type ErrorDetails,
  type ErrorRow,
  type ErrorRows,
  errorMaker,
  isSluiceError,
  type KernelErrors,
  kernelError,
  kernelErrors,
  SluiceError,
} from './errors.js';
export { explainOutcome } from './explain.js';
export * from './families.js';
export { freezePlain } from './freeze.js';
export type { Given } from './given.js';
export { hasGrant } from './grants.js';
export {
  type Allow,
  allow,
  type Cancel,
  cancel,
  type Select,
  select,
} from './handler/decisions.js';
export type {
  Call,
  Contribution,
  ContributionOptions,
  FamilyOptionsByClass,
  Handler,
  HandlerResult,
  ObserverOptions,
  OptionsByClass,
  OptionsOf,
  Own,
  OwnDispatch,
  PreviewOptions,
  PreviewOptionsOf,
  VetoOptions,
} from './handler/handler.js';
export { inertJson, inertText } from './inert-text.js';
export type { Instrument } from './instrument.js';
export { createKernel } from './kernel.js';
export { nearest } from './nearest.js';
export { type OpenContribution, type OpenKernel, openKernel } from './open-kernel.js';
export type * from './outcome.js';
export { isPlain, maxDepth, type PlainProblem } from './plain.js';
export {
  type Clock,
  type IdSource,
  type Logger,
  longestTimerMs,
  silentLogger,
  sortableIds,
  systemClock,
  type TimerHandle,
  unfailing,
} from './ports.js';
export { previewObstacles } from './preview.js';
export { isBegunBy, isOutcome } from './run/dispatched.js';
export { oneLine } from './run/one-line.js';
export type { QuarantinedHandler, QuarantineOptions } from './run/quarantine.js';
export type { RunningHandler } from './run/running.js';
export type { Counters, Late, Place, StillRunning, Tap } from './run/services.js';
export { isThenable } from './run/thenable.js';
export { sameData } from './same-data.js';
export {
  type Deprecation,
  defaultStageTimeoutMs,
  defaultTimeoutMs,
  defineStage,
  type NoFields,
  type Stage,
  type StageSpec,
} from './stage.js';
export type { FamilyShape, StageTypes } from './stage-types.js';
export {
  type Band,
  bands,
  type EmissionSource,
  type ExecutionMode,
  executionModes,
  type FailPolicy,
  type Gate,
  type HandlerClass,
  handlerClasses,
  type PatchLaw,
  type PatchLawSpec,
  patchLaws,
} from './vocabulary.js';
