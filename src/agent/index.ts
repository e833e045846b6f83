export { createReplyCallbacks } from './reply/create-reply-callbacks.js';
export type * from './reply/emit/reply-options.js';
export type * from './reply/emit/reply-payload.js';
export type { ReplyCallbacks } from './reply/reply-callbacks.js';
export type { MessagingTarget } from './reply/tools/messaging-sends.js';
export type { ToolFailure } from './reply/tools/tool-failures.js';
export type { ToolMeta } from './reply/tools/tool-replies.js';
export type { UsageTotals } from './reply/usage-totals.js';
export {
  type ApprovalAnswer,
  type ApprovalRequest,
  type Approvals,
  RunDispatcher,
  type RunDispatcherOptions,
  type RunError,
  type RunFallback,
  type RunFields,
  type RunInput,
  type RunProvider,
  type RunReport,
  type RunSession,
  type RunStart,
  type RunStop,
  Trail,
  type TrailRefs,
  whyNot,
} from './run/index.js';
export { type ActiveRun, ActiveRuns } from './turn/active-runs.js';
export { cutOff } from './turn/cut-off.js';
export { chooseModel, type ModelChoice, type ModelWish } from './turn/model.js';
export { type ComposedPrompt, composePrompt } from './turn/prompt.js';
export { echoProvider } from './turn/said/echo.js';
export { runAgentTurn } from './turn/turn.js';
export type { AgentTurnCallbacks } from './turn/turn-callbacks.js';
export type * from './turn/turn-options.js';
export type { TurnPauses } from './turn/turn-pauses.js';
