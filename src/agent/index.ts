export { Trail, type TrailRefs, whyNot } from '../stream/index.js';
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
export type {
  AgentMessage,
  AgentSession,
  AgentTurnCallbacks,
  AgentTurnError,
  AgentTurnOptions,
  AgentTurnResult,
} from './turn-options.js';
