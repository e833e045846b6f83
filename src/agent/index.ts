export { Trail, type TrailRefs, whyNot } from '../stream/index.js';
export { type ActiveRun, ActiveRuns } from './active-runs.js';
export { claudeProvider } from './claude.js';
export type { ClaudeProviderOptions } from './claude-options.js';
export {
  type ClaudePermissionMode,
  type ClaudeQuery,
  type ClaudeQueryOptions,
  type ClaudeRun,
  loadClaudeSdk,
} from './claude-sdk.js';
export { echoProvider } from './echo.js';
export { chooseModel, type ModelChoice, type ModelWish } from './model.js';
export { type ComposedPrompt, composePrompt } from './prompt.js';
export { readRecording, replayProvider } from './replay.js';
export { runAgentTurn } from './turn.js';
export type { AgentTurnCallbacks } from './turn-callbacks.js';
export type {
  AgentAttempt,
  AgentMessage,
  AgentRetry,
  AgentSession,
  AgentTurnError,
  AgentTurnOptions,
  AgentTurnResult,
  ModelRef,
} from './turn-options.js';
