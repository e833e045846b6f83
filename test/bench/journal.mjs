// The cost of a journal for a host: node test/bench/journal.mjs, after a build. `npm run bench:journal` does both.
//   --rows N   also measures a journal that holds N dispatches, and a tenth as many updates and messages
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { createHost, memoryJournal, openJournal } from '../../dist/host.js';
import { silentLogger } from '../../dist/index.js';
import { lineHost } from './line-host.mjs';

const { values } = parseArgs({ options: { rows: { type: 'string' } } });
const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));

/** An agent that says what it was told, and calls no tool. */
const speaker = {
  id: 'speaker',
  models: ['m'],
  toolGate: 'enforce',
  async *run({ prompt }) {
    const content = [{ type: 'text', text: prompt }];
    yield { type: 'message_start', message: { role: 'assistant', content: [] } };
    yield { type: 'message_end', message: { role: 'assistant', content } };
    yield { type: 'agent_end', messages: [] };
  },
};

/** Microseconds and microseconds of CPU for each of `times`, and the kilobytes that go to the disk. */
async function cost(times, work) {
  const before = process.resourceUsage();
  const from = performance.now();
  await work();
  const us = ((performance.now() - from) * 1_000) / times;
  const after = process.resourceUsage();
  const cpuOf = ({ userCPUTime, systemCPUTime }) => userCPUTime + systemCPUTime;
  const kb = (after.fsWrite - before.fsWrite) / 2 / times; // it counts blocks of 512 bytes
  return { us, cpuUs: (cpuOf(after) - cpuOf(before)) / times, kb };
}

async function measure(name, options) {
  const { host, say } = await lineHost(
    { createHost, silentLogger, echoProvider: () => speaker },
    { lanes: { total: 100_000 }, ...options },
  );
  for (let warm = 0; warm < 200; warm++) await say(`c-${warm % 20}`);
  const alone = await cost(400, async () => {
    for (let at = 0; at < 400; at++) await say(`c-${at}`);
  });
  const together = await cost(2_000, async () => {
    let last;
    for (let at = 0; at < 2_000; at++) last = say(`c-${at % 200}`);
    await last;
  });
  const reminder = { channel: 'lines', accountId: 'one', to: 'ada', content: 'a reminder' };
  const send = await cost(300, async () => {
    for (let at = 0; at < 300; at++) await host.send(reminder);
  });
  await host.stop();
  const cell = ({ us, cpuUs, kb }) =>
    `${us.toFixed(0).padStart(9)} µs ${cpuUs.toFixed(0).padStart(6)} µs ${kb.toFixed(1).padStart(5)} kB`;
  console.log(`${name.padEnd(30)} ${[alone, together, send].map(cell).join('  ')}`);
}

/** Writes rows of a host that has run for long. */
async function fill(journal, rows) {
  const body = JSON.stringify({ status: 'passed', text: 'x'.repeat(180) });
  const begun = Date.now();
  for (let at = 0; at < rows; at++) {
    const about = { family: 'ingress.received', sessionId: null, status: 'passed', body };
    const id = `d-${at}`;
    journal.dispatched({ ...about, eventId: id, correlationId: id, occurredAtMs: begun + at });
    if (at % 10 === 0) {
      const eventId = `old-${at}`;
      const from = { channel: 'lines', accountId: 'one', receivedAtMs: begun, body };
      void journal.accept({ ...from, eventId }, true);
      void journal.endUpdate(eventId, { isDead: false, outcome: 'answered' });
      void journal.store.appendMessage(`s-${at % 1_000}`, { role: 'user', content: body });
    }
    if (at % 10_000 === 9_999) await journal.dispatches({ limit: 1 });
  }
  const { dispatches, dispatchesDropped } = journal.stats();
  const perSecond = (rows * 1_000) / (Date.now() - begun);
  console.log(
    `filled: ${dispatches} dispatches kept, ${dispatchesDropped} dropped, ${perSecond.toFixed(0)} a second`,
  );
}

async function inFile(name, rows, options = {}) {
  const journal = await openJournal(join(folder, `${name}.db`), { keepBytes: 2 ** 40 });
  if (rows > 0) await fill(journal, rows);
  await measure(name, { journal: { opened: journal, ...options }, store: journal.store });
  await journal.close();
}

const head = ['one by one', 'together', 'a send'].map((text) => `${text}, CPU, disk`.padStart(30));
console.log(`${''.padEnd(30)} ${head.join('  ')}`);
try {
  await measure('no journal', {});
  await measure('in memory, no dispatches', {
    journal: { opened: memoryJournal(), dispatches: false },
  });
  await inFile('in a file, no dispatches', 0, { dispatches: false });
  await inFile('in a file, with each dispatch', 0);
  if (values.rows !== undefined) await inFile(`the same, ${values.rows} rows`, Number(values.rows));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
