import './errors.js'; // merges the codes of this layer into ErrorCode

export {
  type AgentEvent,
  type AgentEventInput,
  type AgentEventListener,
  type AgentEvents,
  type AgentEventsOptions,
  type AgentEventsStats,
  type AgentRunContext,
  bridgeAgentEvents,
} from './agent-events/index.js';
export {
  type LegacyContext,
  type LegacyEvent,
  type LegacyHookName,
  type LegacyHooks,
  type LegacyResult,
  legacyHookNames,
} from './hooks/index.js';
export type { BridgeStatus } from './hooks/row.js';
export type * from './hooks/shapes.js';
export {
  bridgeInternalHooks,
  createInternalHookEvent,
  type InternalHookEvent,
  type InternalHookHandler,
  type InternalHookOptions,
  type InternalHookStats,
  type InternalHooks,
  type InternalHookType,
} from './internal/index.js';
export {
  type BusDivergence,
  type BusDivergenceName,
  busDivergences,
} from './mapping/bus-divergences.js';
export {
  type LegacyDivergence,
  type LegacyDivergenceName,
  legacyDivergences,
} from './mapping/divergences.js';
export {
  type LegacyMapping,
  legacyMapping,
  type MappedPart,
  type MappedSource,
} from './mapping/mapping.js';
export { type UnsupportedMember, unsupportedMembers } from './plugin/api/unsupported.js';
export { loadLegacyPlugin } from './plugin/load-plugin.js';
export { type LoadPluginFromOptions, loadLegacyPluginFrom } from './plugin/load-plugin-from.js';
export type { LegacyManifest } from './plugin/shape/manifest.js';
export type {
  LegacyPlugin,
  LegacyPluginOptions,
  PluginDiagnostic,
  PluginHook,
  PluginInternalHook,
  UnsupportedCall,
} from './plugin/shape/plugin.js';
export type {
  LegacyChannel,
  LegacyCommand,
  LegacyCommandContext,
  LegacyDelivery,
  LegacyLogger,
  LegacyOutbound,
  LegacyReply,
  LegacySendContext,
  LegacyService,
  LegacyServiceContext,
} from './plugin/shape/shapes.js';
export { createLegacyHookRunner, type LegacyHookRunner } from './runner/hook-runner.js';
export type { LegacyHookRunnerOptions } from './runner/hook-runner-options.js';
export { registerLegacyHook } from './runner/register-hook.js';
export type { LegacyHookRegistration } from './runner/registration.js';
