export { echoProvider } from './echo.js';
export { chooseModel, type ModelChoice, type ModelWish } from './model.js';
export { type ComposedPrompt, composePrompt } from './prompt.js';
export { readRecording, replayProvider } from './replay.js';
export { Trail, type TrailRefs } from './trail.js';
export { runAgentTurn } from './turn.js';
export { whyNot } from './turn-failure.js';
export type {
  AgentMessage,
  AgentSession,
  AgentTurnCallbacks,
  AgentTurnError,
  AgentTurnOptions,
  AgentTurnResult,
} from './turn-options.js';
