import { defineCommand, defineExtension } from 'sluice';
import { z } from 'zod';

export default defineExtension({
  id: 'reminder',
  manifest: { grants: ['provide:command', 'send:*'] },
  setup(api) {
    const remind = defineCommand({
      name: 'remind',
      description: 'Reminds you.',
      usage: '<minutes> <text...>',
      args: z.object({ minutes: z.coerce.number().positive().max(525_600), text: z.string() }),
      run: async ({ args: { minutes, text }, place, eventId }) => {
        const at = api.clock.now() + minutes * 60_000;
        await api.send({ ...place, content: `You wanted to know: ${text}`, at, key: eventId });
        return `I will remind you in ${minutes} minutes.`;
      },
    });
    api.provide('command', remind);
  },
});
