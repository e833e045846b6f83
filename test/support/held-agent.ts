import type { AgentProvider } from '../../src/sdk/stream/index.js';

/** An agent that answers when it is let, and says how often it was asked. */
export function held(): {
  readonly provider: AgentProvider;
  readonly asked: string[];
  release(): void;
} {
  const asked: string[] = [];
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const provider: AgentProvider = {
    id: 'held',
    models: ['m'],
    toolGate: 'enforce',
    async *run({ prompt }) {
      asked.push(prompt);
      await released;
      const content = [{ type: 'text', text: `answer to ${prompt}` }] as const;
      yield { type: 'agent_start' };
      yield { type: 'message_start', message: { role: 'assistant', content: [] } };
      yield { type: 'message_end', message: { role: 'assistant', content } };
      yield { type: 'agent_end', messages: [] };
    },
  };
  return { provider, asked, release: () => release() };
}
