import { type AgentDefinition, defineExtension } from 'sluice';
import type {
  AgentProvider,
  AgentRequest,
  AssistantMessage,
  AssistantMessageEvent,
  SessionEvent,
} from 'sluice/stream';

/** Gives the answer to a request, piece by piece. It stops when the signal of the request aborts. */
export type Answer = (request: AgentRequest) => AsyncIterable<string>;

/** Puts your model here: `request.prompt` is the text, `request.history` what was said before it. */
async function* answer({ prompt }: AgentRequest): AsyncIterable<string> {
  yield* `You said: ${prompt}`.split(/(?<= )/);
}

/** Makes an agent of answers: each piece is shown as it comes. */
export function provider(answers: Answer): AgentProvider {
  return {
    id: 'my-name',
    models: ['my-name'],
    toolGate: 'enforce', // it calls no tool; one that does asks `request.gate` before each call
    async *run(request) {
      const block = { type: 'text' as const, text: '' };
      const message: AssistantMessage = {
        role: 'assistant',
        content: [block],
        provider: 'my-name',
        model: 'my-name',
        stopReason: 'stop',
        timestamp: Date.now(),
      };
      const at = { contentIndex: 0, partial: message };
      const grew = (event: AssistantMessageEvent): SessionEvent => {
        return { type: 'message_update', message, assistantMessageEvent: event };
      };
      yield { type: 'agent_start' };
      yield { type: 'message_start', message };
      yield grew({ type: 'text_start', ...at });
      for await (const delta of answers(request)) {
        request.signal.throwIfAborted();
        block.text += delta;
        yield grew({ type: 'text_delta', delta, ...at });
      }
      yield grew({ type: 'text_end', content: block.text, ...at });
      yield { type: 'message_end', message };
      yield { type: 'agent_end', messages: [message] };
    },
  };
}

const agent: AgentDefinition = { id: 'my-name', provider: provider(answer), timeoutMs: 60_000 };

/** Provides the agent. `sluice run --agent my-name` chooses it. */
export default defineExtension({
  id: 'my-name',
  setup: (api) => api.provide('agent', agent),
});
