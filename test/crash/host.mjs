// A host with a journal, in a process that is killed at any moment: host.mjs JOURNAL RESEND-POLICY. Its provider is
// its parent: updates and answers to sends come as messages, sends and acknowledgements go there.
import { createHost, openJournal } from '../../dist/host/index.js';
import { cancel, createKernel } from '../../dist/kernel/index.js';

const [, , path, policy] = process.argv;
const answers = new Map(); // of sends that wait for the provider
let inbox;

const channel = {
  id: 'far',
  accounts: ['one'],
  capabilities: { deduplicatesSends: policy === 'resend' },
  resendPolicy: { ambiguous: policy, maxAttempts: 3, maxWaitMs: 60_000 },
  startAccount: async (_account, given) => {
    inbox = given;
  },
  stopIntake: async () => undefined,
  stopAccount: async () => undefined,
  decodeIngress: ({ text, conversation }, accountId) => ({
    kind: 'message',
    message: {
      channel: 'far',
      accountId,
      provider: 'far',
      surface: 'far',
      from: conversation,
      conversationId: conversation,
      messageId: text,
      content: text,
      attachments: [],
      metadata: {},
    },
  }),
  ack: async (_account, { updateId }) => {
    process.send({ ack: updateId });
  },
  send: async (permit) => {
    const { content, conversationId } = permit.take();
    const key = permit.idempotencyKey;
    const answer = new Promise((resolve) => answers.set(key, resolve));
    process.send({ send: { key, content, conversation: conversationId } });
    return answer;
  },
};

const pause = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 4));

/** Says two things to most messages; what it does with the others is in their first word. */
const agent = {
  id: 'agent',
  models: ['m'],
  toolGate: 'enforce',
  async *run({ prompt, signal }) {
    const [what] = prompt.split(' ');
    if (what === 'poison')
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    if (what === 'fail') throw new Error('no model');
    const texts = what === 'silent' ? ['NO_REPLY'] : [`first ${prompt}`, `last ${prompt}`];
    for (const text of texts) {
      await pause();
      const content = [{ type: 'text', text }];
      yield { type: 'message_start', message: { role: 'assistant', content: [] } };
      yield { type: 'message_end', message: { role: 'assistant', content } };
    }
    yield { type: 'agent_end', messages: [] };
  },
};

const kernel = createKernel();
kernel.contribute({
  family: 'egress.preparing',
  class: 'veto',
  extensionId: 'guard',
  id: 'no',
  handler: ({ payload }) => (payload.content.includes('veto') ? cancel('policy') : undefined),
});
const journal = await openJournal(path);
const host = createHost({
  kernel,
  journal,
  store: journal.store,
  channels: [channel],
  agents: [{ id: 'main', provider: agent }],
  failureText: ({ code }) => `failed: ${code}`,
});
process.on('message', ({ update, answer }) => {
  if (update !== undefined) void inbox.receive({ raw: update.raw, updateId: update.id });
  if (answer !== undefined)
    answers.get(answer)?.({ status: 'sent', receipt: { messageId: answer } });
});
await host.start();
process.send({ ready: true });
