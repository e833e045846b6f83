// An agent for a process that a test kills: its first turn hangs, and each other one is answered. The file `asked.txt` gets a line a turn.
import { appendFileSync, readFileSync } from 'node:fs';
import { defineExtension } from 'sluice';

const usage = { input: 400, output: 100, cacheRead: 0, cacheWrite: 0, totalTokens: 500 };

const file = 'asked.txt';

const provider = {
  id: 'hanging',
  models: ['model-1'],
  toolGate: 'enforce',
  async *run({ prompt }) {
    yield { type: 'agent_start' };
    appendFileSync(file, `${prompt}\n`);
    if (readFileSync(file, 'utf8') === `${prompt}\n`) await new Promise(() => undefined);
    const content = [{ type: 'text', text: prompt }];
    const message = { role: 'assistant', model: 'model-1', content };
    yield { type: 'message_start', message };
    yield { type: 'message_end', message };
    yield { type: 'agent_end', messages: [message], usage };
  },
};

export default defineExtension({
  id: 'hanging',
  setup: (api) => api.provide('agent', { id: 'hanging', provider }),
});
