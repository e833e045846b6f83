/** The types that the gateway client speaks (seed 003). The client itself comes with stream plumbing. */
export {
  type AgentAnswer,
  type AgentEventPayload,
  type AgentEventStream,
  type AgentProvider,
  type AgentTrigger,
  hasReachedAgent,
  type StreamDelta,
  type StreamSender,
} from '../stream/index.js';
