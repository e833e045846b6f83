// The names that `sluice-kernel` and `sluice-kernel/core` have in common.

export type { Annotations, CanonicalFamilies } from './catalog/index.js';
export type * from './contract/contract.js';
export type { Override } from './contract/contribution.js';
export type { Instrument } from './contract/instrument.js';
export type { ErrorRow } from './error-rows.js';
export {
  type ErrorCode,
  type ErrorDetails,
  type ErrorRows,
  isSluiceError,
  SluiceError,
} from './errors.js';
export { type Ask, type AskOptions, ask } from './handler/ask.js';
export * from './handler/decisions.js';
export type * from './handler/handler.js';
export type { MatchOf, MatchOptions } from './match/match-of.js';
export type { AuditRecord, AuditVerdict } from './outcome/audit.js';
export type { Envelope, Metadata, Ref } from './outcome/envelope.js';
// Families is open to merging: declare module 'sluice' { interface Families { ... } }
export type * from './outcome/families.js';
export type { Given } from './outcome/given.js';
export type { Match, MatchScalar } from './outcome/matching.js';
export type * from './outcome/outcome.js';
export type { Principal, ProvenSender } from './outcome/principal.js';
export type { ApprovalQuestion, ApprovalScope, Approver, AskAnswer } from './outcome/question.js';
export type { QuarantinedHandler, QuarantineOptions } from './run/services/quarantine.js';
export type { Late, Place, StillRunning, Tap } from './run/services/services.js';
export type { CloseReport, RunningHandler } from './run/state/running.js';
export type { Infer, ObjectSchema, Schema } from './schema/schema.js';
export type { StandardIssue, StandardSchema, StandardVerdict } from './schema/standard.js';
export { defineStage } from './stage/define-stage.js';
export type { Named, ValueOf } from './stage/named.js';
export type { OwnStageSpec } from './stage/own-stage.js';
export {
  type Clock,
  type IdSource,
  type Logger,
  silentLogger,
  sortableIds,
  systemClock,
  type TimerHandle,
} from './stage/ports.js';
export type { Deprecation, NoFields, Stage, StageSpec } from './stage/stage.js';
export type { FieldsOf, StageTypes } from './stage/stage-types.js';
export type {
  ApprovalCode,
  Band,
  EmissionSource,
  Emitter,
  ExecutionMode,
  FailPolicy,
  Gate,
  HandlerClass,
  HandlerMode,
  PatchLaw,
  PatchLawSpec,
} from './stage/vocabulary.js';
