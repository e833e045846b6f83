// An extension of the hosts of a fleet: a channel whose provider is the parent of the process, and an agent that tells of its turns.

import { select } from 'sluice';
import { defineExtension } from 'sluice/extension';

const answers = new Map(); // of sends that wait for the provider
let inbox;
let isFixed = false;
process.on('message', ({ update, answer, fix }) => {
  isFixed ||= fix === true;
  if (update !== undefined) void inbox?.receive({ raw: update.raw, updateId: update.id });
  if (answer !== undefined)
    answers.get(answer)?.({ status: 'sent', receipt: { messageId: answer } });
});

const channel = {
  id: 'far',
  accounts: ['one'],
  capabilities: { deduplicatesSends: true, everyHost: true },
  resendPolicy: { ambiguous: 'resend', maxAttempts: 9, maxWaitMs: 600_000 },
  startAccount: async (_account, given) => {
    inbox = given;
    process.send({ ready: true });
  },
  stopIntake: async () => {
    inbox = undefined;
    process.send({ isStopping: true });
  },
  stopAccount: async () => undefined,
  decodeIngress: ({ text, conversation }, accountId) => ({
    kind: 'message',
    message: {
      ...{ channel: 'far', accountId, from: conversation, conversationId: conversation },
      ...{ messageId: text, content: text, attachments: [], metadata: {} },
    },
  }),
  ack: async (_account, { updateId }) => {
    process.send({ ack: updateId });
  },
  send: async (permit) => {
    const { content } = permit.take();
    const key = permit.idempotencyKey;
    const answer = new Promise((resolve) => answers.set(key, resolve));
    process.send({ send: { key, content } });
    return answer;
  },
};

/** Nanoseconds of a clock that all processes of the machine share, and that no test sets. */
const nowMs = () => Number(process.hrtime.bigint()) / 1e6;

/** Answers after some milliseconds, or goes on in vain until it is stopped. */
const agent = {
  id: 'teller',
  models: ['m'],
  toolGate: 'enforce',
  async *run({ prompt, signal, sessionKey }) {
    const fromMs = nowMs();
    process.send({ turn: { sessionKey, prompt, fromMs } });
    if (prompt.includes('broken') && !isFixed) throw new Error('no model');
    await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 40));
    const message = { role: 'assistant', content: [{ type: 'text', text: `re ${prompt}` }] };
    yield { type: 'message_start', message };
    yield { type: 'message_end', message };
    process.send({ turn: { sessionKey, prompt, fromMs, toMs: nowMs() } });
    signal.throwIfAborted();
    yield { type: 'agent_end', messages: [] };
  },
};

export default defineExtension({
  id: 'far',
  setup: (api) => {
    const sessions = Number(process.env.SESSIONS);
    api.provide('channel', channel);
    api.provide('agent', { id: 'teller', provider: agent });
    if (sessions > 0)
      api.resolve('routing.resolving', 'by-number', ({ payload: { message } }) => {
        const number = Number(message.conversationId.split('-')[1]);
        return select({ agentId: 'teller', sessionKey: `s-${number % sessions}` });
      });
  },
});
