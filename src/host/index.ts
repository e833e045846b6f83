import './errors.js'; // merges the codes of this layer into ErrorCode

export { defineConfig } from './config/define-config.js';
export type {
  AnswerFailure,
  FailureCode,
  FailureTextOption,
  FailureTexts,
} from './config/failure-text.js';
export type { SluiceConfig } from './config/sluice-config.js';
export type { OutgoingMessage } from './egress/prepare-send.js';
export { cloudEventOf, type TimelineCloudEvent } from './explain/cloud-event.js';
export {
  type ConsumerOptions,
  cursorOf,
  type FollowOptions,
  followJournal,
  type TimelineCursor,
} from './explain/follow-journal.js';
export * from './health/health-server.js';
export { type HostNames, hostCheck, isLoopback } from './health/host-header.js';
export type { EventFeedOptions } from './health/serve-events.js';
export * from './life/host.js';
export type { HostHealth, HostState } from './life/host-health.js';
export type { StartReport, StopReport } from './life/lifecycle.js';
export { ActiveStreams, type StreamPlace } from './parts/active-streams.js';
export type { HostStats, SendEnds } from './parts/counts.js';
export type {
  AgentDefinition,
  HostExtension,
  HostJournal,
  HostOptions,
  HostProgram,
  ReplyOptions,
} from './parts/options.js';
export type { HostTrouble } from './parts/troubles.js';
export type { ChatAnswer, ChatCommand, ChatCommandContext } from './provided/chat-commands.js';
export { parseCommandLine } from './provided/commands.js';
export type { PendingStart } from './provided/pending-starts.js';
export type * from './provided/plugins.js';
export type { RolesOf, RoleTable } from './provided/roles.js';
export type { HttpRoute, NodeExchange, OwnedRoute, PluginRoutes } from './provided/routes.js';
export type { ToolSource, ToolTurn } from './provided/tools.js';
export type { HttpRouteStatus, HttpRoutes } from './routes/host-routes.js';
export { sessionKeyOf } from './session/routing.js';
export * from './streaming/deliver-stream.js';
export { type DispatchTapOptions, dispatchTap } from './timeline/dispatch-tap.js';
export * from './timeline/fold-timeline.js';
export { keepTimeline } from './timeline/keep-timeline.js';
export { readTimeline } from './timeline/read-timeline.js';
export type * from './timeline/timeline-entry.js';
export {
  type TimelineListener,
  type TimelineRecorder,
  timelineRecorder,
} from './timeline/timeline-recorder.js';
