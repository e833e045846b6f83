import { defineExtension } from 'sluice';
import { scriptedAgent } from 'sluice/testing';

export default defineExtension({
  id: 'try-agent',
  setup(api) {
    const call = { tool: 'Bash', args: { command: 'rm -rf build' }, result: 'removed' };
    api.provide('agent', { id: 'tester', provider: scriptedAgent([[call, 'Done.']]) });
  },
});
