import { defineExtension } from 'sluice';
import type { ChannelPlugin } from 'sluice/channel';

const pigeon: ChannelPlugin = {
  id: 'pigeon',
  capabilities: {},
  accounts: ['loft'],
  resendPolicy: { ambiguous: 'fail', maxAttempts: 1, maxWaitMs: 0 },
  startAccount: async (_accountId, inbox) => {
    const arrival = inbox.receive({ raw: 'coo', updateId: '1' });
    void arrival.then(() => inbox.ended({ reason: 'the pigeon is home' }));
  },
  stopIntake: async () => undefined,
  stopAccount: async () => undefined,
  decodeIngress: (raw, accountId) => ({
    kind: 'message',
    message: {
      channel: 'pigeon',
      accountId,
      from: 'pigeon:ada',
      content: String(raw),
      attachments: [],
      metadata: {},
    },
  }),
  send: async (permit) => {
    console.error(`the pigeon carries ${permit.take().content}`);
    return { status: 'sent', receipt: {} };
  },
};

export default defineExtension({
  id: 'pigeons',
  setup: (api) => api.provide('channel', pigeon),
});
