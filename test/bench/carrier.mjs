// A host of the bench of many hosts: carrier.mjs JOURNAL TURN-MS. Its parent gives it messages, and hears of the end of each.
import { setTimeout as pass } from 'node:timers/promises';
import { createHost, openJournal, openPostgresJournal } from '../../dist/host.js';
import { connect } from '../../extensions/postgres/dist/index.js';

const [, , place, turnMs] = process.argv;
const channel = {
  id: 'far',
  accounts: ['one'],
  capabilities: { everyHost: true },
  resendPolicy: { ambiguous: 'fail', maxAttempts: 3, maxWaitMs: 60_000 },
  startAccount: async (_account, given) => {
    inbox = given;
  },
  stopAccount: async () => undefined,
  decodeIngress: ({ text, conversation }, accountId) => ({
    kind: 'message',
    message: {
      ...{ channel: 'far', accountId, provider: 'far', surface: 'far', from: conversation },
      ...{ conversationId: conversation, messageId: text, content: text },
      ...{ attachments: [], metadata: {} },
    },
  }),
  send: async (permit) => {
    const { content } = permit.take();
    if (answered.push(content) === 1) setImmediate(tell);
    return { status: 'sent', receipt: { messageId: content } };
  },
};
let inbox;
/** The answers of this turn of the event loop: the bench is to cost the hosts little. */
const answered = [];
const tell = () => process.send({ answered: answered.splice(0) });
const agent = {
  id: 'agent',
  models: ['m'],
  async *run({ prompt }) {
    if (turnMs > 0) await pass(Number(turnMs));
    const message = { role: 'assistant', content: [{ type: 'text', text: prompt }] };
    yield { type: 'message_start', message };
    yield { type: 'message_end', message };
    yield { type: 'agent_end', messages: [] };
  },
};
const journal = await (place.startsWith('postgres:')
  ? openPostgresJournal(connect(place))
  : openJournal(place));
const host = createHost({
  ...{ journal, store: journal.store, channels: [channel] },
  agents: [{ id: 'main', provider: agent }],
  ...(turnMs > 0 && { lanes: { maxRunning: 16 } }),
});
process.on('message', ({ updates = [], stop }) => {
  for (const { id, conversation } of updates)
    void inbox.receive({ updateId: id, raw: { text: id, conversation } });
  if (stop)
    void host
      .stop()
      .then(() => journal.close())
      .then(() => process.disconnect());
});
await host.start();
process.send({ ready: true });
