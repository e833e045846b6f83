// What a journal costs a host: node test/bench/journal.mjs, after a build. `npm run bench:journal` does both.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHost, memoryJournal, openJournal } from '../../dist/host/index.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
const agent = {
  id: 'agent',
  models: ['m'],
  toolGate: 'enforce',
  async *run({ prompt }) {
    const content = [{ type: 'text', text: prompt }];
    yield { type: 'message_start', message: { role: 'assistant', content: [] } };
    yield { type: 'message_end', message: { role: 'assistant', content } };
    yield { type: 'agent_end', messages: [] };
  },
};

/** A channel that answers at once. */
function instantChannel() {
  const channel = {
    id: 'instant',
    accounts: ['one'],
    capabilities: {},
    resendPolicy: { ambiguous: 'fail', maxAttempts: 1, maxWaitMs: 0 },
    startAccount: async (_account, inbox) => {
      channel.inbox = inbox;
    },
    stopIntake: async () => undefined,
    stopAccount: async () => undefined,
    decodeIngress: ({ text, conversationId }, accountId) => ({
      kind: 'message',
      message: {
        channel: 'instant',
        accountId,
        from: conversationId,
        conversationId,
        content: text,
        attachments: [],
        metadata: {},
      },
    }),
    send: async (permit) => {
      permit.take();
      return { status: 'sent', receipt: {} };
    },
  };
  return channel;
}

async function measure(name, options) {
  const channel = instantChannel();
  let ended = 0;
  let wake = () => undefined;
  const host = createHost({
    channels: [channel],
    agents: [{ id: 'main', provider: agent }],
    capacity: 100_000,
    ...options,
    onMessageEnd: ({ status }) => {
      if (status !== 'answered') throw new Error(status);
      ended++;
      wake();
    },
  });
  await host.start();
  let id = 0;
  const say = (conversation) =>
    channel.inbox.receive({
      raw: {
        text: `message ${++id} of a usual length, a line of text`,
        conversationId: `c-${conversation}`,
      },
      updateId: `${id}`,
    });
  const until = async (count) => {
    while (ended < count) await new Promise((resolve) => (wake = resolve));
  };
  for (let warm = 1; warm <= 200; warm++) {
    await say(warm % 20);
    await until(warm);
  }
  const alone = 400;
  let from = performance.now();
  for (let at = 1; at <= alone; at++) {
    void say(at);
    await until(200 + at);
  }
  const oneByOneUs = ((performance.now() - from) / alone) * 1_000;
  const many = 2_000;
  from = performance.now();
  for (let at = 0; at < many; at++) void say(at % 200);
  await until(200 + alone + many);
  const together = ((performance.now() - from) / many) * 1_000;
  const sends = 300;
  from = performance.now();
  for (let at = 0; at < sends; at++)
    await host.send({ channel: 'instant', accountId: 'one', to: 'ada', content: 'a reminder' });
  const sendUs = ((performance.now() - from) / sends) * 1_000;
  await host.stop();
  const us = (value) => `${value.toFixed(0)} µs`.padStart(9);
  console.log(`${name.padEnd(36)} ${us(oneByOneUs)} ${us(together)} ${us(sendUs)}`);
}

console.log(`${''.padEnd(36)} one by one  together      send`);
try {
  await measure('no journal', {});
  await measure('in memory, no dispatches', { journal: memoryJournal(), journalDispatches: false });
  for (const [name, journalDispatches] of [
    ['in a file, no dispatches', false],
    ['in a file, with each dispatch', undefined],
  ]) {
    const journal = await openJournal(join(folder, `${name}.db`));
    const dispatches = journalDispatches === undefined ? {} : { journalDispatches };
    await measure(name, { journal, store: journal.store, ...dispatches });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
