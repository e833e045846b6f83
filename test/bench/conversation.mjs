// The cost of a message in a long conversation: node test/bench/conversation.mjs, after a build. `npm run bench:conversation` does both.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { echoProvider } from '../../dist/agent/index.js';
import { createHost, openJournal } from '../../dist/host/index.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
const [messages = 10_000] = process.argv.slice(2).map(Number);

/** A channel with one conversation, whose reader says the next line when the last was answered. */
function lineChannel() {
  const channel = {
    id: 'lines',
    accounts: ['one'],
    capabilities: {},
    resendPolicy: { ambiguous: 'fail', maxAttempts: 1, maxWaitMs: 0 },
    startAccount: async (_account, inbox) => {
      channel.inbox = inbox;
    },
    stopAccount: async () => undefined,
    decodeIngress: (content, accountId) => ({
      kind: 'message',
      message: {
        channel: 'lines',
        accountId,
        from: 'ada',
        conversationId: 'ada',
        content,
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
  const channel = lineChannel();
  let wake = () => undefined;
  const host = createHost({
    channels: [channel],
    agents: [{ id: 'main', provider: echoProvider() }],
    ...options,
    onMessageEnd: () => wake(),
  });
  await host.start();
  const took = [];
  for (let at = 0; at < messages; at++) {
    const from = performance.now();
    const ended = new Promise((resolve) => (wake = resolve));
    await channel.inbox.receive({ raw: `line ${at} of a conversation`, updateId: `${at}` });
    await ended;
    took.push(performance.now() - from);
  }
  await host.stop();
  const median = (some) => some.toSorted((a, b) => a - b)[Math.floor(some.length / 2)];
  const ms = (value) => `${value.toFixed(2)} ms`.padStart(12);
  const parts = [took.slice(20, 120), took.slice(-100)]; // the first of all warm the code up
  console.log(`${name.padEnd(20)}${parts.map((part) => ms(median(part))).join('')}`);
}

console.log(`${`${messages} messages`.padEnd(20)}    first 100    last 100`);
try {
  await measure('no journal', {});
  const journal = await openJournal(join(folder, 'sluice.db'));
  await measure('in a file', { journal, store: journal.store });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
