import './errors.js'; // merges the codes of this layer into ErrorCode

export type * from './agent-events/agent-events.js';
export { bridgeAgentEvents } from './agent-events/bridge-agent-events.js';
export type * from './agent-events/event.js';
export type * from './hooks/shapes.js';
export { bridgeInternalHooks } from './internal-hooks/bridge-internal-hooks.js';
export * from './internal-hooks/event.js';
export type * from './internal-hooks/internal-hooks.js';
export * from './mapping/bus-divergences.js';
export * from './mapping/divergences.js';
export { loadLegacyPlugin } from './plugin/load-plugin.js';
export { type LoadPluginFromOptions, loadLegacyPluginFrom } from './plugin/load-plugin-from.js';
export type { PluginSdk } from './plugin/sdk/find-openclaw.js';
export type {
  LegacyInbound,
  LegacyIntake,
  LegacyReplyKind,
  LegacyState,
  TakeInbound,
} from './plugin/shape/intake.js';
export type { LegacyManifest } from './plugin/shape/manifest.js';
export type * from './plugin/shape/plugin.js';
export type * from './plugin/shape/shapes.js';
export {
  type HostedHookName,
  type LegacyContext,
  type LegacyEvent,
  type LegacyHookName,
  type LegacyHooks,
  type LegacyProfile,
  type LegacyResult,
  legacyHookNames,
} from './profiles/index.js';
export type * from './profiles/shapes.js';
export { createLegacyHookRunner, type LegacyHookRunner } from './runner/hook-runner.js';
export { registerLegacyHook } from './runner/register-hook.js';
export type { LegacyHookRegistration } from './runner/registration.js';
export type { LegacyHookRunnerOptions } from './runner/runner-reporter.js';
