import { defineExtension } from 'sluice';
import { acpAgent } from './agent.js';
import { config } from './config.js';

export { type AcpAgent, acpAgent } from './agent.js';
export type { ProgramSettings } from './config.js';
export type { Services } from './program.js';

/** Programs that speak the Agent Client Protocol, as agents. The README has the settings. */
export default defineExtension({
  id: 'acp',
  manifest: { version: '0.2.0', sluice: '~0.2.0', grants: ['provide:agent'] },
  config,
  setup(api, { asked, ...settings }) {
    for (const command of asked) {
      const given = { ...settings, cwd: api.resolvePath(settings.cwd) };
      api.provide('agent', api.own(`acp:${command}`, acpAgent(command, given, api)));
    }
  },
});
