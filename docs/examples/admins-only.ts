import { allow, cancel, defineExtension } from 'sluice';

export default defineExtension({
  id: 'admins-only',
  setup: (api) => {
    api.veto('agent.tool.calling', 'shell', { failClosed: true }, ({ payload, principal }) => {
      if (payload.toolName !== 'Bash') return allow();
      if (principal?.roles.includes('admin') === true) return allow();
      return cancel('policy', { text: 'Only admins may use the shell.' });
    });
  },
});
