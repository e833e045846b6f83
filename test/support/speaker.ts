import type { AgentProvider } from '../../src/sdk/stream/index.js';

/** An agent that says what it was told, and calls no tool. */
export const speaker: AgentProvider = {
  id: 'speaker',
  models: ['m'],
  toolGate: 'enforce',
  async *run({ prompt: text }) {
    yield { type: 'message_start', message: { role: 'assistant', content: [] } };
    const content = [{ type: 'text', text }] as const;
    yield { type: 'message_end', message: { role: 'assistant', content } };
    yield { type: 'agent_end', messages: [] };
  },
};
