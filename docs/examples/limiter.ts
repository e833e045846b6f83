import { allow, cancel, defineExtension } from 'sluice';

const reply = 'One question a minute, please.';

export default defineExtension({
  id: 'limiter',
  setup(api) {
    const asked = new Map<string, number>();
    api.veto('routing.resolving', 'limit', { failClosed: true }, ({ event, payload, pass }) => {
      const { from } = payload.message;
      if (pass !== 'first') return allow(); // it has counted this message
      if (event.occurredAt - (asked.get(from) ?? 0) < 60_000)
        return cancel('rate-limited', { reply });
      asked.set(from, event.occurredAt);
      return allow();
    });
  },
});
