import { randomUUID } from 'node:crypto';
import { defineExtension } from 'sluice';

type Place = { channel: string; accountId?: string; to: string; threadId?: string | number };
type Reminder = { dueAtMs: number; place: Place; text: string };

export default defineExtension({
  id: 'reminder',
  manifest: { grants: ['provide:command', 'schedule', 'send:*'] },
  setup(api) {
    api.provide('command', {
      name: 'remind',
      description: 'Reminds you: /remind MINUTES TEXT.',
      run: async ({ args: [minutes, ...words], message }) => {
        const { channel, accountId, threadId, from, messageId = randomUUID() } = message;
        const to = message.conversationId ?? from;
        const waitMs = Math.round(Number(minutes) * 60_000);
        const isTime = waitMs > 0 && waitMs < 1e12; // 30 years: the key has 16 digits
        if (!isTime || words.length === 0) return 'For instance: /remind 10 tea';
        const dueAtMs = api.clock.now() + waitMs;
        const account = accountId === undefined ? {} : { accountId };
        const thread = threadId === undefined ? {} : { threadId };
        const place = { channel, ...account, to, ...thread };
        const reminder: Reminder = { dueAtMs, place, text: words.join(' ') };
        const due = String(dueAtMs).padStart(16, '0'); // the store lists keys in their order
        await api.store.set(`due/${due}/${channel}/${to}/${messageId}`, reminder);
        return `I will remind you in ${minutes} minutes.`;
      },
    });
    api.schedule('minute', { cron: '* * * * *', misfire: 'once' }, async ({ signal }) => {
      for (const { key } of await api.store.list('due/', { limit: 100 })) {
        const reminder = await api.store.get<Reminder>(key);
        if (signal.aborted || !reminder || reminder.dueAtMs > api.clock.now()) return;
        const { place, text } = reminder;
        await api.send({ ...place, content: `You wanted to know: ${text}`, key }); // once per key
        await api.store.delete(key);
      }
    });
  },
});
