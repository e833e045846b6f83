import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { echoProvider } from '../../../../src/agent/index.js';
import { createHost, type HostHealth, startHealthServer } from '../../../../src/host/index.js';
import { type MessageEnd, memoryJournal } from '../../../../src/journal/index.js';
import { createKernel, loggerWith } from '../../../../src/kernel/internal.js';
import { loadLegacyPluginFrom } from '../../../../src/openclaw/index.js';
import { virtualClock } from '../../../../src/testing/virtual-clock.js';
import { faultyApi } from './faults.js';
import { type Provider, providers } from './providers.js';
import type { SweepAsk, SweepCase, SweepSays, Verdict } from './sweep.js';

// Takes channels through cases, each in a host of its own: a member of the api fails, and a message comes in or goes out.

const [, , argument = '{}'] = process.argv;
const { plugins, openclaw, folder } = JSON.parse(argument) as SweepAsk; // as the test wrote it
const api = faultyApi();
const text = 'a text that nobody may lose';
/** Rounds of waiting for the end of a case: then nothing will come. */
const mostRounds = 3_000;

/** A host with the channel, its provider, and all that tells what became of a message. */
async function hostWith({ channel, fault }: SweepCase, provider: Provider, stateDir: string) {
  const clock = virtualClock(Date.now());
  const log: string[] = [];
  const ends: MessageEnd[] = [];
  const kernel = createKernel({ clock });
  const logger = loggerWith((level, message, fields) =>
    log.push(`${level} ${message} ${String(fields?.['error'] ?? fields?.['detail'] ?? '')}`),
  );
  const plugin = await loadLegacyPluginFrom(plugins[channel] ?? channel, {
    ...{ kernel, openclaw, stateDir, logger, clock, routes: true },
    config: { channels: { [channel]: provider.account } },
  });
  const journal = memoryJournal({ clock });
  const host = createHost({
    ...{ kernel, plugins: [plugin], channels: [], journal, logger, clock },
    agents: [{ id: 'main', provider: echoProvider() }],
    onMessageEnd: (end) => ends.push(end),
  });
  let startError: unknown = plugin.error;
  if (startError === undefined) await host.start().catch((error: unknown) => (startError = error));
  const health = await startHealthServer(host, { port: 0 });
  const readyz = async () => {
    const answer = await fetch(`${health.url}/readyz`);
    return (await answer.json()) as HostHealth; // as a host answers
  };
  /** Waits until something is found; time passes meanwhile, and faster if something fails and it takes long. */
  const until = async <T>(
    find: () => Promise<T | undefined> | T | undefined,
    most = mostRounds,
  ) => {
    for (let round = 0; round < most; round += 1) {
      const found = await find();
      if (found !== undefined) return found;
      await pause(10);
      await clock.advance(round < 100 || fault === undefined ? 10 : 1_000);
    }
    return undefined;
  };
  /** Returns whether the text stands in the queue of its channel, which is worked on again. */
  const isWaiting = async (): Promise<boolean> => {
    for (const { namespace } of await journal.keyValues.namespaces())
      if (namespace.startsWith('/legacy-ingress/'))
        for (const { body } of await journal.keyValues.list(namespace, { prefix: '', limit: 100 }))
          if (body.includes(text) && body.includes('"pending"')) return true;
    return false;
  };
  return {
    isWaiting,
    ...{ channel, fault, host, log, ends, until, health: readyz, url: health.url, startError },
    [Symbol.asyncDispose]: async () => {
      await health[Symbol.asyncDispose]();
      const stopping = host.stop({ timeoutMs: 100 });
      let isOver = false;
      void stopping.then(() => (isOver = true));
      await until(() => isOver || undefined);
      await plugin.dispose();
      await kernel.close();
    },
  };
}

type Lab = Awaited<ReturnType<typeof hostWith>>;

/** The things that an operator or a provider can see, as they are now. */
async function seen(lab: Lab, provider: Provider, status: number | undefined): Promise<Verdict> {
  if (lab.startError !== undefined) return 'does not start';
  if (provider.said().includes(text)) return 'answered';
  if (lab.ends.some((end) => end.status !== 'answered')) return 'dead letter';
  const { degraded, accounts } = await lab.health();
  const mine = degraded.filter(({ whose }) => whose === `${lab.channel}/default`);
  const named = [lab.fault?.member ?? 'none', 'has ended', 'wait in its queue'];
  const isNamed =
    accounts.length === 0 || mine.some(({ what }) => named.some((one) => what?.includes(one)));
  if (status !== undefined && status >= 300) return isNamed ? 'refused and named' : 'refused';
  return isNamed ? 'degraded' : 'lost';
}

async function bringOne(lab: Lab, provider: Provider, isFailing: () => void): Promise<Verdict> {
  const { isReady } = provider;
  let isUp = isReady === undefined;
  const up = await lab.until(async () => {
    isUp ||= lab.log.some((line) => isReady?.test(line));
    return isUp || (await seen(lab, provider, undefined)) !== 'lost' || undefined;
  });
  if (up === undefined) return 'lost';
  if (!isUp) return seen(lab, provider, undefined);
  isFailing();
  let status: number | undefined;
  let [failed, isBrought] = [false, false];
  void provider.bring(text, lab.url).then(
    (answered) => {
      isBrought = true;
      status = answered;
    },
    () => (failed = true),
  );
  const verdict = await lab.until(async () => {
    if (failed) return 'refused' as const;
    const now = await seen(lab, provider, status);
    return now === 'lost' ? undefined : now;
  });
  if (verdict !== 'degraded') return verdict ?? 'lost';
  // the account is named; the text is kept, too
  const kept = await lab.until(
    async () => {
      const now = await seen(lab, provider, status);
      if (now !== 'degraded' && now !== 'lost') return now; // it may be answered at this moment
      return (await lab.isWaiting()) ? ('waits' as const) : undefined;
    },
    status === undefined ? 200 : mostRounds,
  );
  return kept ?? (isBrought && status !== undefined ? 'acknowledged' : 'degraded'); // the provider believes that it was taken
}

async function sendOne(lab: Lab, provider: Provider): Promise<Verdict> {
  const place = { channel: lab.channel, accountId: 'default', to: provider.to };
  let told: string | undefined;
  void lab.host.send({ ...place, content: text }).then(
    ({ status }) => (told = status),
    () => (told = 'rejected'),
  );
  await lab.until(() => told);
  if (told === undefined) return 'lost';
  if (told === 'sent') return provider.said().includes(text) ? 'answered' : 'lost';
  return 'dead letter';
}

/** Runs one case. Nothing fails without a fault. */
async function run(one: SweepCase): Promise<SweepSays> {
  const { channel, phase, fault } = one;
  const start = providers[channel];
  if (start === undefined) throw new Error(`nobody knows ${channel}`);
  await using provider = await start.start();
  const stateDir = await mkdtemp(join(folder, 'state-'));
  const isEarly = phase === 'start' || fault?.mode === 'is absent';
  api.set(isEarly ? fault : undefined);
  if (phase === 'start') api.called.clear();
  await using lab = await hostWith(one, provider, stateDir);
  const begin = (): void => {
    if (phase !== 'start') api.called.clear();
    api.set(fault);
  };
  let verdict: Verdict;
  if (phase === 'send' && lab.startError === undefined) {
    begin();
    verdict = await sendOne(lab, provider);
  } else verdict = await bringOne(lab, provider, begin);
  const called = [...api.called];
  api.set(undefined);
  await rm(stateDir, { recursive: true, force: true });
  const isBad = ['lost', 'acknowledged'].includes(verdict) || fault === undefined;
  const end = lab.ends.map(({ status, reason }) => `${status} ${reason ?? ''}`);
  const degraded = (await lab.health()).degraded.map(({ whose, what }) => `${whose}: ${what}`);
  const log = [...lab.log.filter((line) => !line.startsWith('debug')), ...end, ...degraded];
  return { ...one, verdict, called, ...(isBad && { log }) };
}

process.on('unhandledRejection', (error) => process.send?.({ stray: String(error) }));
process.on('message', (one: SweepCase | 'members' | 'stop') => {
  if (one === 'stop') process.exit(0);
  if (one === 'members') return void process.send?.([...api.members]);
  void run(one).then(
    (said) => process.send?.(said),
    (error: unknown) =>
      process.send?.({ ...one, verdict: 'broken', log: [String(Object(error).stack)], called: [] }),
  );
});
