import { createHash } from 'node:crypto';
import { defineCommand, defineExtension, type placeOf } from 'sluice';
import { z } from 'zod';

type Place = ReturnType<typeof placeOf>;
const nameOf = ({ channel, accountId, to, threadId }: Place): string =>
  JSON.stringify([channel, accountId, to, threadId]);

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
        const key = createHash('sha256').update(eventId).digest('hex').slice(0, 8);
        await api.send({ ...place, content: `You wanted to know: ${text}`, at, key });
        return `I will remind you in ${minutes} minutes.`;
      },
    });
    const waiting = async (
      place: Place, // nobody sees or cancels those of another conversation
    ) => (await api.laterSends.list()).filter(({ data }) => nameOf(data) === nameOf(place));
    const forget = defineCommand({
      name: 'forget-reminder',
      description: 'Cancels a reminder.',
      usage: '<id>',
      args: z.object({ id: z.string() }),
      run: async ({ args: { id }, place }) => {
        const isHere = (await waiting(place)).some(({ key }) => key === id);
        return isHere && (await api.laterSends.cancel(id)) ? 'It is cancelled.' : 'There is none.';
      },
    });
    api.provide('command', remind);
    api.provide('command', forget);
    api.provide('command', {
      name: 'reminders',
      description: 'Lists the reminders of this conversation.',
      run: async ({ place }) => {
        const lines = (await waiting(place)).map(
          ({ key, dueAt = 0, data }) => `${key} ${new Date(dueAt).toISOString()} ${data.content}`,
        );
        return lines.join('\n') || 'There is none.';
      },
    });
  },
});
