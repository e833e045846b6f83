import { defineExtension } from 'sluice';

export default defineExtension({
  id: 'remind-me',
  manifest: { grants: ['schedule', 'inject', 'provide:command'] },
  setup(api) {
    const reminders = api.schedule<{ session: string; text: string }>('remind', ({ data }) =>
      api.inject(data.session, `Remind the user: ${data.text}`),
    );
    api.provide('command', {
      name: 'recall',
      description: 'Puts a text into this session in an hour.',
      run: async ({ args, sessionKey, eventId }) => {
        const data = { session: sessionKey, text: args.join(' ') };
        await reminders.add({ at: api.clock.now() + 3_600_000, key: eventId, data });
        return 'In an hour.';
      },
    });
  },
});
