import { defineExtension, select } from 'sluice';
import type { AgentDefinition } from 'sluice/host';
import type { AgentProvider, SessionMessage } from 'sluice/stream';

const parrot: AgentProvider = {
  id: 'parrot',
  models: ['parrot'],
  toolGate: 'enforce',
  async *run({ prompt }) {
    const message: SessionMessage = {
      role: 'assistant',
      content: [{ type: 'text', text: prompt }],
      provider: 'parrot',
      model: 'parrot',
      stopReason: 'stop',
      timestamp: Date.now(),
    };
    yield { type: 'agent_start' };
    yield { type: 'message_start', message };
    yield { type: 'message_end', message };
    yield { type: 'agent_end', messages: [message] };
  },
};

const definition: AgentDefinition = { id: 'parrot', provider: parrot, timeoutMs: 60_000 };

export default defineExtension({
  id: 'parrots',
  setup(api) {
    api.provide('agent', definition);
    api.resolve('routing.resolving', 'to-parrot', () => select({ agentId: 'parrot' }));
  },
});
