import type { Addition } from '@sluice/cli';

/** OpenClaw in the command line: the agent behind its gateway, its plugins, and the commands about them. */
export const openclawAddition: Addition = {
  commands: [
    {
      name: 'check-plugin',
      summary: 'say what an OpenClaw plugin becomes here, and what would not work',
      load: () => import('./commands/check-plugin/check-plugin.js'),
    },
    {
      name: 'plugin',
      summary: 'add, list, check and remove OpenClaw plugins, and use what they bring',
      load: () => import('./commands/plugin/plugin.js'),
    },
    {
      name: 'migrate',
      summary: 'write the extension that is to take the place of an OpenClaw plugin',
      load: () => import('./commands/migrate/migrate.js'),
    },
    {
      name: 'import',
      summary: 'move a host of OpenClaw: its config, people, schedules and histories',
      load: () => import('./commands/import/import.js'),
    },
  ],
  agents: [
    {
      name: 'openclaw',
      forms: ['openclaw', 'openclaw:AGENT'],
      form: /^openclaw(:[\w-]+)?$/,
      isBehindGateway: true,
      load: () => import('./commands/agent/gateway-agent.js'),
    },
  ],
  plugins: () => import('./commands/installed/load-plugins.js'),
};
