import type { Addition } from '@sluice/cli';

/** Claude in the command line: the agent itself, its recorded streams, and the command that prints those. */
export const claudeAddition: Addition = {
  commands: [
    {
      name: 'normalize',
      summary: 'print a recorded agent stream as events, or check their order',
      load: () => import('./commands/normalize/normalize.js'),
    },
  ],
  agents: [
    {
      name: 'replay',
      forms: ['replay:FILE with a recorded stream'],
      form: /^replay:.+$/,
      toolGate: 'observe-only',
      load: () => import('./commands/agents/replay-agent.js'),
    },
    {
      name: 'claude',
      forms: ['claude', 'claude:MODEL'],
      form: /^claude(:.+)?$/,
      namesModel: true,
      load: () => import('./commands/agents/claude-agent.js'),
    },
  ],
  recordings: () => import('./commands/recorded-runs.js'),
};
