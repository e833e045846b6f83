import { createHash } from 'node:crypto';
import { defineExtension } from 'sluice';

type Poll = { question: string; options: string[]; votes: Record<string, number> };

const resultOf = ({ question, options, votes }: Poll): string => {
  const count = (at: number): number => Object.values(votes).filter((one) => one === at).length;
  return [question, ...options.map((option, at) => `${option}: ${count(at)}`)].join('\n');
};

export default defineExtension({
  id: 'poll',
  manifest: { grants: ['provide:command', 'send:*'] },
  setup(api) {
    api.provide('command', {
      name: 'poll',
      description: 'Asks everybody here: /poll QUESTION? ONE, ANOTHER. Without them it counts.',
      run: async ({ args, place, eventId }) => {
        const { channel, accountId, to, threadId = '' } = place;
        const newest = `newest/${channel}/${accountId}/${to}/${threadId}`;
        const [, question, choices = ''] = /^(.+?\?)\s+(.+)$/.exec(args.join(' ')) ?? [];
        const options = choices.split(',').flatMap((choice) => choice.trim() || []);
        if (question === undefined || options.length === 0) {
          const id = await api.store.get<string>(newest);
          const poll = id === undefined ? undefined : await api.store.get<Poll>(`poll/${id}`);
          return poll === undefined ? 'For instance: /poll Lunch? Soup, Pizza' : resultOf(poll);
        }
        const digest = createHash('sha256').update(eventId).digest('hex');
        const id = digest.slice(0, 32); // a button of Telegram has 64 bytes for its id
        const poll = { question, options, votes: {} };
        await api.store.update<Poll>(`poll/${id}`, (before) => before ?? poll); // it may run again
        await api.store.set(newest, id);
        const buttons = options.map((label, at) => ({ id: `${at}/${id}`, label }));
        await api.send({ ...place, content: question, interactive: { buttons }, key: id });
        return '';
      },
    });
    api.augment('interaction.received', 'vote', async ({ payload: { name, sender } }) => {
      const [, at, id] = /^(\d+)\/(.+)$/.exec(name) ?? [];
      const voter = sender?.id;
      if (voter === undefined || id === undefined) return undefined;
      const poll = await api.store.update<Poll>(
        `poll/${id}`,
        (before) => before && { ...before, votes: { ...before.votes, [voter]: Number(at) } },
      );
      return poll && { replies: [`You voted for ${poll.options[Number(at)]}.`] };
    });
  },
});
