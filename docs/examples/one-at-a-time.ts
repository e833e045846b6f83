import { allow, cancel, defineExtension } from 'sluice';

const busy = new Set<string>();

export default defineExtension({
  id: 'one-at-a-time',
  setup(api) {
    api.veto('routing.resolving', 'limit', ({ payload }) =>
      busy.has(payload.message.from)
        ? cancel('rate-limited', { reply: 'One at a time, please.' })
        : allow(),
    );
  },
});
