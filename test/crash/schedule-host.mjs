// A host with three schedules, one of which adds a time and a message by each run, in a process that is killed: schedule-host.mjs JOURNAL LOG [POINT NTH]. POINT is `begin` or `end` of a
// run, `before` or `after` a call of the journal, or `never`: then the host stops by itself when it is up to date.
//
// Its clock goes on from the newest time of the log, as fast as the host keeps up with it, so no second is missed however
// slow the machine is. The lines of the log are `at TIME`, `begin NAME DUE ATTEMPT`, `end NAME DUE` and `killed POINT`.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { echoProvider } from '../../dist/agent.js';
import { defineExtension } from '../../dist/extension.js';
import { createHost, openJournal } from '../../dist/host.js';
import { virtualClock } from '../../dist/testing.js';

const [, , path, log, point = 'time', nth = '0'] = process.argv;
const write = (...words) => appendFileSync(log, `${words.join(' ')}\n`);
const before = existsSync(log) ? readFileSync(log, 'utf8') : '';
const beganMs = Date.UTC(2026, 2, 15);
const newest = (line) => Number([...before.matchAll(line)].at(-1)?.[1] ?? beganMs);
/** When the newest run of each schedule that has ended was due. */
const done = new Map(
  ['quick', 'slow', 'rare'].map((name) => [name, newest(new RegExp(`^end ${name} (\\d+)$`, 'gm'))]),
);
const leftMs = newest(/^at (\d+)$/gm);
const isBehind = leftMs - Math.min(...done.values()) > 15_000; // what is a minute late is left out
const startMs = leftMs + (isBehind ? 0 : 3_000); // for so long no host lived
const clock = virtualClock(startMs);

let passed = 0;
function passes(here) {
  if (here !== point || ++passed < Number(nth)) return;
  write('killed', here);
  process.kill(process.pid, 'SIGKILL');
}

let calls = 0; // of the journal that are under way

/** The journal, whose calls are points of a kill. */
function watched(target) {
  return new Proxy(target, {
    get: (_, name) => {
      const member = Reflect.get(target, name, target);
      if (name === 'keyValues') return watched(member);
      if (typeof member !== 'function') return member;
      return (...given) => {
        passes('before');
        const result = member.apply(target, given);
        if (!(result instanceof Promise)) return result;
        calls++;
        return result.then((value) => {
          calls--;
          passes('after');
          return value;
        });
      };
    },
  });
}

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

const run =
  (name, takesMs, more = async () => undefined) =>
  async ({ dueAt, attempt }) => {
    write('begin', name, dueAt, attempt);
    passes('begin');
    await more(dueAt);
    await new Promise((resolve) => clock.setTimeout(resolve, takesMs));
    write('end', name, dueAt);
    passes('end');
    done.set(name, dueAt);
  };
const extension = defineExtension({
  id: 'ticker',
  setup: (api) => {
    api.schedule('quick', { cron: '* * * * * *' }, run('quick', 100));
    const later = api.schedule('later', ({ key, data, attempt }) => {
      write('begin', 'later', data, attempt);
      write('end', 'later', data, key);
    });
    const addMore = async (dueAt) => {
      const to = String(dueAt % 7_000);
      await later.add({ at: dueAt + 700, key: `k${dueAt}`, data: dueAt });
      await api.send({
        channel: 'far',
        to,
        content: `m${dueAt}`,
        at: dueAt + 900,
        key: `s${dueAt}`,
      });
    };
    api.schedule('slow', { cron: '*/2 * * * * *' }, run('slow', 500, addMore));
    api.schedule('rare', { cron: '*/5 * * * * *', misfire: 'once' }, run('rare', 300));
  },
});

const journal = await openJournal(path);
const host = createHost({
  journal: { opened: watched(journal), maxAttempts: 1_000 }, // none becomes a dead letter
  store: journal.store,
  clock,
  channels: [channel],
  extensions: [{ extension }],
  agents: [{ id: 'main', provider: echoProvider() }],
});
await host.start();
process.send({ ready: true });

const isUpToDate = () => Math.min(...done.values()) > startMs + 10_000;
/** Lets time pass when the host has done its work of before. */
async function pass(ms) {
  while (calls > 0) await wait(1);
  await clock.advance(ms);
  await wait(1);
  write('at', clock.now());
}
while (point !== 'never' || !isUpToDate()) await pass(100);
while ((await journal.updates({ states: ['accepted', 'handling'] })).length > 0) await pass(10);
await host.stop();
process.disconnect();
