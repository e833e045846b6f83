import { cancel, defineExtension } from 'sluice';

export default defineExtension({
  id: 'admins-only',
  setup: (api) => {
    api.veto('agent.tool.calling', 'shell', ({ payload, principal }) => {
      if (payload.toolName !== 'Bash') return;
      if (principal?.roles.includes('admin') === true) return;
      return cancel('policy', { text: 'Only admins may use the shell.' });
    });
  },
});
