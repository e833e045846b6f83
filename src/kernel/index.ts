export { type Annotations, type CanonicalFamilies, canonicalStages } from './catalog/index.js';
export type * from './contract/contract.js';
export type { Override } from './contract/contribution.js';
export type { Instrument } from './contract/instrument.js';
export { mayMatch, previewObstacles } from './contract/may-match.js';
export { type OpenContribution, type OpenKernel, openKernel } from './contract/open-kernel.js';
export { perKernel } from './contract/per-kernel.js';
export * from './errors.js';
export { explainOutcome } from './explain/explain.js';
export { explainAudit } from './explain/explain-audit.js';
export { type Ask, type AskOptions, ask } from './handler/ask.js';
export * from './handler/decisions.js';
export type * from './handler/handler.js';
export { matchFields } from './match/match-fields.js';
export type { MatchOf, MatchOptions } from './match/match-of.js';
export type { AuditRecord, AuditVerdict } from './outcome/audit.js';
export { nameOf } from './outcome/entry.js';
export type { Envelope, Metadata, Ref } from './outcome/envelope.js';
export * from './outcome/families.js';
export type { Given } from './outcome/given.js';
export type { Match, MatchScalar } from './outcome/matching.js';
export type * from './outcome/outcome.js';
export { type Principal, type ProvenSender, principalText } from './outcome/principal.js';
export * from './outcome/question.js';
export { hasGrant } from './registry/grants.js';
export type { QuarantinedHandler, QuarantineOptions } from './run/services/quarantine.js';
export type { Counters, Late, Place, StillRunning, Tap } from './run/services/services.js';
export type { CloseReport, RunningHandler } from './run/state/running.js';
export { isBegunBy, isOutcome } from './run/state/unheard.js';
export type { ValueOf } from './stage/named.js';
export * from './stage/ports.js';
export {
  type Deprecation,
  defaultStageTimeoutMs,
  defaultTimeoutMs,
  defineStage,
  type NoFields,
  type Stage,
  type StageSpec,
} from './stage/stage.js';
export type { FamilyShape, FieldsOf, StageTypes } from './stage/stage-types.js';
export {
  type ApprovalCode,
  type Band,
  bands,
  type EmissionSource,
  type Emitter,
  type ExecutionMode,
  executionModes,
  type FailPolicy,
  type Gate,
  type HandlerClass,
  type HandlerMode,
  handlerClasses,
  type PatchLaw,
  type PatchLawSpec,
  patchLaws,
} from './stage/vocabulary.js';
export { onAbort, type StopSignal, Timer, withTimeout } from './stage/waits.js';
export { createKernel } from './surface/kernel.js';
export { copyPlain } from './value/copy-plain.js';
export { type Deferred, deferred } from './value/deferred.js';
export { type DefinedFields, definedFields } from './value/defined-fields.js';
export { type Fields, fieldsOf, isFields } from './value/fields.js';
export { freezePlain } from './value/freeze.js';
export { getOrMake } from './value/get-or-make.js';
export { inertJson, inertText } from './value/inert-text.js';
export { didYouMean, nearest, nearestHint } from './value/nearest.js';
export { oneLine } from './value/one-line.js';
export { isPlain, maxDepth, type PlainProblem } from './value/plain.js';
export { sameData } from './value/same-data.js';
export { isThenable } from './value/thenable.js';
