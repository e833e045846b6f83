import { allow, ask, defineExtension } from 'sluice';

export default defineExtension({
  id: 'ask-first',
  setup(api) {
    api.veto('agent.tool.calling', 'deploys', { failClosed: true }, ({ payload }) =>
      payload.toolName === 'deploy'
        ? ask({ title: 'Deploy to production?', of: { role: 'admin' }, timeoutMs: 15 * 60_000 })
        : allow(),
    );
  },
});
