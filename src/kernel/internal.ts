// The names of this layer that authors and the other layers use.

export type { GivenAnswer } from './catalog/agent-start.js';
export { mayMatch, previewNotice } from './contract/may-match.js';
export { type OpenContribution, type OpenKernel, openKernel } from './contract/open-kernel.js';
export { perKernel } from './contract/per-kernel.js';
export { type ErrorMaker, errorMaker, kernelError, type RowsOf } from './errors.js';
export * from './index.js';
export { matchFields } from './match/match-fields.js';
export { nameOf } from './outcome/entry.js';
export { principalText } from './outcome/principal.js';
export { approvalScopes } from './outcome/question.js';
export { hasGrant } from './registry/grants.js';
export type { Counters } from './run/services/services.js';
export { isBegunBy, isOutcome } from './run/state/unheard.js';
export { loggerWith, longestTimerMs, unfailing } from './stage/ports.js';
export { defaultStageTimeoutMs, defaultTimeoutMs } from './stage/stage.js';
export type { FamilyShape } from './stage/stage-types.js';
export { bands, executionModes, handlerClasses, patchLaws } from './stage/vocabulary.js';
export {
  onAbort,
  pause,
  type StopListener,
  type StopSignal,
  Timer,
  withTimeout,
} from './stage/waits.js';
export { copyPlain } from './value/copy-plain.js';
export { type Deferred, deferred } from './value/deferred.js';
export { type DefinedFields, definedFields } from './value/defined-fields.js';
export { type Fields, fieldsOf, isFields } from './value/fields.js';
export { freezePlain } from './value/freeze.js';
export { getOrMake } from './value/get-or-make.js';
export { inertJson, inertText } from './value/inert-text.js';
export { didYouMean, nearest, nearestHint } from './value/nearest.js';
export { cut, oneLine } from './value/one-line.js';
export { isPlain, maxDepth, type PlainProblem } from './value/plain.js';
export { sameData } from './value/same-data.js';
export { isThenable } from './value/thenable.js';
