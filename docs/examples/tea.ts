import { defineExtension } from 'sluice';

export default defineExtension({
  id: 'tea',
  manifest: { grants: ['send:telegram'] },
  setup(api) {
    api.observe('routing.resolved', 'welcome', async (call) => {
      const to = call.payload.message.conversationId;
      if (call.payload.message.channel !== 'telegram' || to === undefined) return;
      const message = { channel: 'telegram', to, content: 'Tea is at four.' };
      const { ended } = await api.send({ ...message, key: `tea/${to}`, after: call });
      void ended.then(({ status }) => api.log.info(`the note about tea: ${status}`));
    });
  },
});
