/** The types that the gateway client speaks (seed 003). The client itself comes with stream plumbing. */
export type {
  AgentEventPayload,
  AgentEventStream,
  AgentProvider,
  AgentTrigger,
  StreamDelta,
  StreamSender,
} from '../stream/index.js';
