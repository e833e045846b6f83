import { cancel, defineExtension } from 'sluice';

export default defineExtension({
  id: 'no-shell',
  setup(api) {
    const match = { toolName: ['Bash', 'exec_*'], 'accountRef.channel': 'telegram' } as const;
    api.veto('agent.tool.calling', 'telegram', { match, failClosed: true }, () =>
      cancel('policy', { text: 'No shell from Telegram.' }),
    );
  },
});
