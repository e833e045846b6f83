// The cost of a message in a host, without its channel: node test/bench/message.mjs, after a build. `npm run bench:message` does both.
// It begins with the peers, which it installs from the registry in a folder of its own; `--alone` leaves them out.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { echoProvider } from '../../dist/agent.js';
import { createHost, openJournal } from '../../dist/host.js';
import { silentLogger } from '../../dist/index.js';
import { lineHost, stepsOfMessage } from './line-host.mjs';
import { comparePeers } from './message-peers.mjs';

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));

/** Microseconds of CPU per message of `times` messages. */
async function cpuUs(times, say) {
  const before = process.cpuUsage();
  for (let i = 0; i < times; i++) await say(i);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}

/** Shows the lowest of five rounds, in microseconds. */
async function row(name, times, say) {
  const rounds = [];
  for (let i = 0; i < 5; i++) rounds.push(await cpuUs(times, say));
  console.log(
    `${name.padEnd(42)}${Math.min(...rounds)
      .toFixed(0)
      .padStart(8)} µs`,
  );
}

async function measure(name, options) {
  const lines = await lineHost({ createHost, echoProvider, silentLogger }, await options());
  const { host, say } = lines;
  await cpuUs(2_000, (i) => say(`warm ${i % 10}`));
  const { promises, dispatches } = await stepsOfMessage(lines);
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
  if (!process.argv.includes('--alone')) comparePeers();
  await measure('no journal', () => ({}));
  if (!process.argv.includes('--memory'))
    await measure('in a file', async () => {
      const journal = await openJournal(join(folder, 'sluice.db'));
      return { journal, store: journal.store };
    });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
