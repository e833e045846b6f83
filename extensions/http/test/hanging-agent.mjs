// An agent for a process that a test kills: its first turn hangs. The file `asked.txt` gets a line a turn.

import { appendFileSync, readFileSync } from 'node:fs';
import { defineExtension } from 'sluice';

const provider = {
  ...{ id: 'hanging', models: ['m'], toolGate: 'enforce' },
  async *run({ prompt }) {
    yield { type: 'agent_start' };
    appendFileSync('asked.txt', `${prompt}\n`);
    const turn = readFileSync('asked.txt', 'utf8').split('\n').length - 1;
    if (turn === 1) await new Promise(() => undefined);
    const message = { role: 'assistant', content: [{ type: 'text', text: `Turn ${turn}.` }] };
    yield { type: 'message_start', message };
    yield { type: 'message_end', message };
    yield { type: 'agent_end', messages: [message] };
  },
};
export default defineExtension({
  id: 'hanging',
  setup: (api) => api.provide('agent', { id: 'hanging', provider }),
});
