// The cost of a message in a host, without its channel: node --expose-gc test/bench/message.mjs, after a build. `npm run bench:message` does both.
import { createHook } from 'node:async_hooks';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { echoProvider } from '../../dist/agent/index.js';
import { createHost, openJournal } from '../../dist/host/index.js';
import { silentLogger } from '../../dist/kernel/index.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));

/** A channel of a process: it gives a line to the host, and takes each reply. */
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
    decodeIngress: ({ from, content }, accountId) => ({
      kind: 'message',
      message: {
        channel: 'lines',
        accountId,
        from,
        conversationId: from,
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

/** A host with one echo agent, and a function that has it answer a line. */
export async function lineHost(options = {}) {
  const channel = lineChannel();
  let wake = () => undefined;
  let updateId = 0;
  const host = createHost({
    channels: [channel],
    agents: [{ id: 'main', provider: echoProvider() }],
    logger: silentLogger,
    ...options,
    onMessageEnd: () => wake(),
  });
  await host.start();
  return {
    host,
    say: (from) => {
      const ended = new Promise((resolve) => (wake = resolve));
      const raw = { from, content: `line ${updateId} of ${from}` };
      void channel.inbox.receive({ raw, updateId: String(updateId++) });
      return ended;
    },
  };
}

/** Microseconds of CPU per message of `times` messages. */
async function cpuUs(times, say) {
  const before = process.cpuUsage();
  for (let i = 0; i < times; i++) await say(i);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}

async function promisesOf(say) {
  let promises = 0;
  const hook = createHook({
    init: (_, type) => {
      if (type === 'PROMISE') promises++;
    },
  }).enable();
  await say();
  hook.disable();
  return promises;
}

/** Shows the lowest of five rounds, in microseconds. */
async function row(name, times, say) {
  const rounds = [];
  for (let i = 0; i < 5; i++) rounds.push(await cpuUs(times, say));
  console.log(`${name.padEnd(42)}${Math.min(...rounds).toFixed(0).padStart(8)} µs`);
}

async function measure(name, options) {
  const { host, say } = await lineHost(await options());
  await cpuUs(2_000, (i) => say(`warm ${i % 10}`));
  const before = host.kernel.stats().dispatches;
  const promises = await promisesOf(() => say('warm 0'));
  const dispatches = host.kernel.stats().dispatches - before;
  console.log(`${name}: ${promises} promises, ${dispatches} dispatches`);
  let known = 0;
  for (const conversations of [10, 1_000, 20_000]) {
    for (; known < conversations; known++) await say(`c${known}`);
    let at = 0;
    await row(`  ${conversations} conversations`, 400, () => say(`c${at++ % conversations}`));
  }
  let turn = 0;
  for (const turns of [10, 10_000]) {
    for (; turn < turns; turn++) await say('one');
    await row(`  at turn ${turns} of one`, 100, () => say('one'));
  }
  await host.stop();
}

try {
  await measure('no journal', () => ({}));
  if (!process.argv.includes('--memory')) await measure('in a file', async () => {
    const journal = await openJournal(join(folder, 'sluice.db'));
    return { journal, store: journal.store };
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
