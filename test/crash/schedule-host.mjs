// A host with a schedule each second, in a process that is killed at any moment: schedule-host.mjs JOURNAL LOG. Its runs are lines of
// the log: `begin DUE ATTEMPT` and `end DUE`.
import { appendFileSync } from 'node:fs';
import { echoProvider } from '../../dist/agent/index.js';
import { defineExtension } from '../../dist/extension/index.js';
import { createHost, openJournal } from '../../dist/host/index.js';

const [, , path, log] = process.argv;
const write = (...words) => appendFileSync(log, `${words.join(' ')}\n`);

const channel = {
  id: 'far',
  accounts: ['one'],
  capabilities: {},
  resendPolicy: { ambiguous: 'fail', maxAttempts: 3, maxWaitMs: 60_000 },
  startAccount: async () => undefined,
  stopIntake: async () => undefined,
  stopAccount: async () => undefined,
  decodeIngress: () => ({ kind: 'ignored', reason: 'nothing comes' }),
  send: async () => ({ status: 'rejected', reason: 'nothing is sent' }),
};

const extension = defineExtension({
  id: 'ticker',
  setup: (api) =>
    api.schedule('tick', { cron: '* * * * * *' }, async ({ dueAt, attempt }) => {
      write('begin', dueAt, attempt);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 600));
      write('end', dueAt);
    }),
});

const journal = await openJournal(path);
const host = createHost({
  journal,
  store: journal.store,
  channels: [channel],
  extensions: [{ extension }],
  agents: [{ id: 'main', provider: echoProvider() }],
  maxAttempts: 1_000, // none becomes a dead letter
});
await host.start();
process.send({ ready: true });
setInterval(() => undefined, 1_000); // it lives until it is killed: its channel has nothing that would hold it
