import { allow, cancel, defineExtension } from 'sluice';
import { z } from 'zod';

export default defineExtension({
  id: 'rate-limit',
  config: z.strictObject({ messages: z.number().int().positive(), perMs: z.number().positive() }),
  setup(api, { messages, perMs }) {
    api.veto('routing.resolving', 'limit', { failClosed: true }, async ({ payload, pass }) => {
      if (pass !== 'first') return allow(); // this message has been counted
      const { channel, from } = payload.message;
      const window = Math.floor(api.clock.now() / perMs);
      const key = `${channel}/${from}/${window}`;
      const count = (before = 0): number => before + 1;
      const said = (await api.store.update<number>(key, count, { ttlMs: perMs })) ?? 0;
      if (said <= messages) return allow();
      return cancel('rate-limited', { reply: `At most ${messages} messages at a time, please.` });
    });
  },
});
