import { cancel, defineExtension } from 'sluice';

export default defineExtension({
  id: 'acme',
  setup(api) {
    // Neither says `preview: 'ok'`: nothing of a reply is shown before all of it was judged.
    api.veto('egress.preparing', 'no-secrets', { priority: 5 }, ({ payload }) =>
      payload.content.includes('secret') ? cancel('policy', { text: 'a secret' }) : undefined,
    );
    api.mutate('egress.preparing', 'sign', { priority: 5 }, ({ payload }) => ({
      content: `${payload.content}\n-- Acme`,
    }));
  },
});
