import { defineExtension } from 'sluice';

export default defineExtension({
  id: 'rate',
  setup(api) {
    api.mutate('egress.preparing', 'buttons', { preview: 'ok' }, ({ payload }) => {
      if (payload.kind !== 'reply') return undefined;
      const good = { id: 'good', label: 'Good' };
      return { interactive: { buttons: [good, { id: 'bad', label: 'Bad' }] } };
    });
    api.augment('interaction.received', 'thanks', ({ payload }) =>
      payload.name === 'good' ? { replies: ['Thank you.'] } : undefined,
    );
  },
});
