import './errors.js'; // merges the codes of this layer into ErrorCode

export {
  type AgentAnswer,
  type AgentEventPayload,
  type AgentEventStream,
  type AgentProvider,
  type AgentTrigger,
  hasReachedAgent,
  type StreamDelta,
} from '@sluice/sdk/stream';
export * from './bridge/bridge-gateway.js';
export { OpenClawClient } from './client/client.js';
export type { OpenClawClientOptions, ReconnectOptions } from './client/client-options.js';
export type * from './client/client-state.js';
export type { ClientCounters, ClientStats } from './client/routes/client-stats.js';
export type { AgentCallback, ChatCallback } from './client/routes/run-routes.js';
export { createDeviceIdentity, type DeviceIdentity } from './device/device-identity.js';
export { loadDeviceIdentity } from './device/load-device-identity.js';
export type { OtherAgentEvent } from './protocol/agent-event.js';
export type { ChatEvent, LostReason } from './protocol/chat-event.js';
export type { ClientIntroduction } from './protocol/connect-params.js';
export type { GatewayEvent } from './protocol/frame.js';
export type { CircuitOptions } from './provider/circuit.js';
export { OpenClawAgentProvider } from './provider/provider.js';
export type { OpenClawAgentProviderOptions } from './provider/provider-options.js';
