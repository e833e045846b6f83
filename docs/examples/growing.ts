import type {
  AgentProvider,
  AssistantMessage,
  AssistantMessageEvent,
  SessionEvent,
} from 'sluice/stream';

export const growing: AgentProvider = {
  id: 'growing',
  models: ['growing'],
  toolGate: 'enforce',
  async *run({ prompt }) {
    const block = { type: 'text' as const, text: '' };
    const message: AssistantMessage = { role: 'assistant', content: [block], stopReason: 'stop' };
    const at = { contentIndex: 0, partial: message };
    const grew = (event: AssistantMessageEvent): SessionEvent => {
      return { type: 'message_update', message, assistantMessageEvent: event };
    };
    yield { type: 'agent_start' };
    yield { type: 'message_start', message };
    yield grew({ type: 'text_start', ...at });
    for (const delta of prompt.split(/(?<= )/)) {
      block.text += delta;
      yield grew({ type: 'text_delta', delta, ...at });
    }
    yield grew({ type: 'text_end', content: block.text, ...at });
    yield { type: 'message_end', message };
    yield { type: 'agent_end', messages: [message] };
  },
};
