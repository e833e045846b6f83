export type { AgentEvents, AgentEventsOptions, AgentEventsStats } from './agent-events.js';
export { bridgeAgentEvents } from './bridge-agent-events.js';
export type {
  AgentEvent,
  AgentEventInput,
  AgentEventListener,
  AgentRunContext,
} from './event.js';
export type { AgentEventRow, AgentEventSink, AgentEventSource } from './row.js';
export { agentEventRows } from './rows.js';
export { agentEventSinks } from './sinks.js';
