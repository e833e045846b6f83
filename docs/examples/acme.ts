import { allow, cancel, defineExtension } from 'sluice';

export default defineExtension({
  id: 'acme',
  setup(api) {
    // Neither says `preview: 'ok'`: nothing of a reply is shown before all of it was judged.
    const guard = { priority: 5, failClosed: true };
    api.veto('egress.preparing', 'no-secrets', guard, ({ payload }) =>
      payload.content.includes('secret') ? cancel('policy', { text: 'a secret' }) : allow(),
    );
    api.mutate('egress.preparing', 'sign', { priority: 5 }, ({ payload }) => ({
      content: `${payload.content}\n-- Acme`,
    }));
  },
});
