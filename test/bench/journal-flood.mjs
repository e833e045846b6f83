// Fault 39 in its long form: 100,000 dispatches a second for 10 seconds, of 2 kB each. `npm run bench:flood`, after a build.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dispatchTap, openJournal } from '../../dist/host.js';
import { createKernel } from '../../dist/index.js';

const perSecond = Number(process.env.FLOOD_PER_SECOND ?? 100_000);
const seconds = Number(process.env.FLOOD_SECONDS ?? 10);
const delta = { runId: 'r', sessionId: 's', kind: 'text', text: 'a word' };
const text = 'z'.repeat(1_900);

const at = (values, part) =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * part) - 1)] ?? 0;
const ms = (value) => `${value.toFixed(value < 10 ? 3 : 0)} ms`;

/** Offers dispatches for some seconds, with a sync stage and an update that has to be kept beside them. */
async function flood(name, offer, journal, kernel) {
  const stage = [];
  const accepts = [];
  const pauses = [];
  let mostMemory = 0;
  let mostWaiting = 0;
  let offered = 0;
  let updates = 0;
  let accepted = 0;
  const from = performance.now();
  let last = from;
  for (let now = from; now < from + seconds * 1_000; ) {
    const due = Math.min(((now - from) / 1_000) * perSecond - offered, perSecond);
    for (let one = 0; one < due; one++) offer(offered++);
    for (let one = 0; one < 10; one++) {
      const begun = performance.now();
      kernel.dispatchSync('agent.output.delta', delta);
      stage.push(performance.now() - begun);
    }
    if (now - accepted >= 50) {
      accepted = now;
      const begun = performance.now();
      const update = {
        eventId: `u-${updates++}`,
        channel: 'c',
        accountId: 'a',
        receivedAtMs: 0,
        body: '{}',
      };
      void journal.accept(update).then(() => accepts.push(performance.now() - begun));
    }
    mostMemory = Math.max(mostMemory, process.memoryUsage().rss);
    mostWaiting = Math.max(mostWaiting, journal.stats().charactersWaiting);
    const turn = performance.now();
    await new Promise((resolve) => setImmediate(resolve));
    now = performance.now();
    pauses.push(now - turn);
    last = now;
  }
  const took = (last - from) / 1_000;
  await journal.dispatches({ limit: 1 }); // what waits is written
  const { dispatches, dispatchesDropped } = journal.stats();
  console.log(`${name}
  offered        ${offered} in ${took.toFixed(1)} s: ${(offered / took).toFixed(0)} a second
  kept, dropped  ${dispatches}, ${dispatchesDropped}: together ${dispatches + dispatchesDropped}
  waiting        at most ${(mostWaiting / 1_048_576).toFixed(0)} Mi characters; memory at most ${(mostMemory / 1_048_576).toFixed(0)} MiB
  sync stage     p50 ${ms(at(stage, 0.5))}, p99 ${ms(at(stage, 0.99))}, at most ${ms(at(stage, 1))}
  journal's work p50 ${ms(at(pauses, 0.5))}, p99 ${ms(at(pauses, 0.99))}, at most ${ms(at(pauses, 1))} without the event loop
  an update      p50 ${ms(at(accepts, 0.5))}, p99 ${ms(at(accepts, 0.99))}, at most ${ms(at(accepts, 1))} until it was kept (${accepts.length})
  file           ${(statSync(journal.path).size / 1_048_576).toFixed(0)} MiB`);
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-flood-'));
try {
  for (const name of [
    'dispatches given to the journal',
    'dispatches of a kernel, through its tap',
  ]) {
    const journal = await openJournal(join(folder, `${name.length}.db`));
    const isTapped = name.includes('tap');
    const kernel = createKernel(
      isTapped ? { tap: dispatchTap(journal, { rawUpdates: true }) } : {},
    );
    for (const family of ['agent.output.delta', 'ingress.received'])
      kernel.contribute({
        family,
        class: 'observer',
        extensionId: 'bench',
        id: family,
        handler: () => undefined,
      });
    const body = JSON.stringify({ text });
    const about = { family: 'ingress.received', sessionId: null, status: 'passed' };
    const given = (id) =>
      journal.dispatched({
        ...about,
        eventId: `d-${id}`,
        correlationId: `d-${id}`,
        occurredAtMs: Date.now(),
        body,
      });
    const tapped = () =>
      void kernel.dispatch('ingress.received', {
        channel: 'c',
        accountId: 'a',
        receivedAtMs: 0,
        raw: { text },
      });
    await flood(name, isTapped ? tapped : given, journal, kernel);
    await kernel.close();
    await journal.close();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
