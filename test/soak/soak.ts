import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { echoProvider } from '../../src/agent/index.js';
import { createHost } from '../../src/host/index.js';
import { dispatchTap } from '../../src/host/timeline/dispatch-tap.js';
import { type MessageEnd, openJournal, readJournal } from '../../src/journal/index.js';
import { createKernel } from '../../src/kernel/internal.js';
import type { AgentProvider } from '../../src/sdk/stream/index.js';
import { type SoakChannel, soakChannel } from './soak-channel.js';
import { contributeSoakHandlers } from './soak-handlers.js';

/** How long, how much, and with which luck. */
export interface SoakOptions {
  readonly seconds: number;
  /** Messages per second, over all channels. */
  readonly perSecond: number;
  readonly seed: number;
}

/** What a soak came to. */
export interface SoakReport {
  readonly figures: Readonly<Record<string, string | number>>;
  /** What must not be; none is a pass. */
  readonly problems: readonly string[];
}

/** Bytes that the heap may have grown by from its first settled third to its last, however long it runs. */
const heapGrowth = 24 * 1_048_576;
const conversations = 200;

/** Milliseconds that the rest may take when the input has ended. */
const drainMs = 60_000;

/**
 * Runs a host under mixed load, with handlers and providers that fail, hang and are slow, three channels and a journal. Every
 * message must be accounted for, every prepared send must end once, the heap must not grow, and nothing may be rejected
 * without a handler.
 */
export async function soak({ seconds, perSecond, seed }: SoakOptions): Promise<SoakReport> {
  const problems: string[] = [];
  const stray = (kind: string) => (error: unknown) =>
    void problems.push(`${kind}: ${String(error)}`);
  const listeners = {
    unhandledRejection: stray('an unhandled rejection'),
    uncaughtException: stray('an uncaught exception'),
  };
  for (const [name, listener] of Object.entries(listeners)) process.on(name, listener);
  const folder = mkdtempSync(join(tmpdir(), 'sluice-soak-'));
  try {
    return await run(
      { seconds, perSecond, random: seeded(seed) },
      join(folder, 'soak.db'),
      problems,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
    for (const [name, listener] of Object.entries(listeners)) process.off(name, listener);
  }
}

async function run(
  { seconds, perSecond, random }: Omit<SoakOptions, 'seed'> & { readonly random: () => number },
  path: string,
  problems: string[],
): Promise<SoakReport> {
  const journal = await openJournal(path, { keepBytes: 64 * 1_048_576 });
  const ends = new Map<MessageEnd['status'], number>();
  const latency = createHistogram();
  const said = new Map<string, number>();
  const sends = { prepared: 0, terminal: 0 };
  const failures = new Map<string, number>();
  const kept = dispatchTap(journal);
  const kernel = createKernel({
    trace: true,
    quarantine: { failures: 50, windowMs: 1_000, coolDownMs: 500 },
    tap: {
      outcome: (outcome) => {
        kept.outcome(outcome);
        const { family } = outcome.event;
        if (family === 'egress.preparing') sends.prepared++;
        if (family === 'egress.sent' || family === 'egress.cancelled' || family === 'egress.failed')
          sends.terminal++;
      },
      failure: ({ kind }) => void failures.set(kind, (failures.get(kind) ?? 0) + 1),
    },
  });
  contributeSoakHandlers(kernel, random);
  const channels = [
    soakChannel('fast', 1, random),
    soakChannel('usual', 8, random),
    soakChannel('slow', 30, random),
  ];
  const host = createHost({
    kernel,
    journal,
    store: journal.store,
    channels,
    agents: [
      { id: 'main', provider: echoProvider(), timeoutMs: 5_000 },
      { id: 'slow', provider: slowProvider(random), timeoutMs: 5_000 },
    ],
    onMessageEnd: (end) => {
      ends.set(end.status, (ends.get(end.status) ?? 0) + 1);
      const began = said.get(end.updateId ?? '');
      if (began === undefined)
        problems.push(`a message ended that was not said, or twice: ${end.updateId}`);
      else latency.record(Math.max(1, Math.round(performance.now() - began)));
      said.delete(end.updateId ?? '');
    },
  });
  await host.start();
  const loop = monitorEventLoopDelay({ resolution: 10 });
  loop.enable();
  const heaps: number[] = [];
  const began = performance.now();
  const until = began + seconds * 1_000;
  let due = began;
  let nextSample = began;
  let count = 0;
  while (performance.now() < until) {
    for (
      let batch = 0;
      due <= performance.now() && batch < perSecond;
      batch++, due += 1_000 / perSecond
    ) {
      const channel = channels[count % channels.length] as SoakChannel; // there are three
      const id = `${channel.id}-${channel.counts.said + 1}`;
      said.set(id, performance.now());
      const conversation = String(Math.floor(random() * conversations));
      const content = random() < 0.01 ? 'noise' : random() < 0.02 ? '/new' : `message ${count}`;
      await channel.say(content, conversation);
      count++;
    }
    due = Math.max(due, performance.now() - 1_000); // what a busy machine has missed is not made up for
    if (performance.now() >= nextSample) {
      globalThis.gc?.();
      heaps.push(process.memoryUsage().heapUsed);
      nextSample += (seconds * 1_000) / 30;
    }
    await sleep(5);
  }
  loop.disable();
  for (const channel of channels) channel.end(); // the host stops by itself when the last has ended
  const stopped = await Promise.race([host.stopped, sleep(drainMs, undefined, { ref: false })]);
  if (stopped === undefined)
    problems.push(`the host has not stopped ${drainMs} ms after its input ended`);
  const stats = kernel.stats();
  const journaled = journal.stats();
  await kernel.close();
  const bytes = statSync(path).size;
  const open = await openIn(path);

  const third = Math.floor(heaps.length / 3);
  const early = Math.max(...heaps.slice(third, 2 * third));
  const late = Math.max(...heaps.slice(2 * third));
  const ended = [...ends.values()].reduce((sum, one) => sum + one, 0);
  const total = channels.reduce((sum, { counts }) => sum + counts.said, 0);
  const must = (holds: boolean, problem: string): void => {
    if (!holds) problems.push(problem);
  };
  must(
    total === count && ended === total && said.size === 0,
    `${total} messages were said and ${ended} ended; without an end: ${[...said.keys()].slice(0, 5).join(', ')}`,
  );
  must(
    sends.prepared === sends.terminal,
    `${sends.prepared} sends were prepared and ${sends.terminal} ended`,
  );
  must(stopped?.drained === true, 'messages were abandoned at the end');
  must(
    open.updates === 0 && open.sends === 0,
    `the journal has ${open.updates} messages and ${open.sends} sends without an end`,
  );
  must(
    globalThis.gc === undefined || late - early < heapGrowth,
    `the heap has grown by ${mega(late - early)}`,
  );
  for (const kind of ['threw', 'timed-out', 'bad-output'])
    must(
      (failures.get(kind) ?? 0) > 0,
      `no handler failed by "${kind}": the load is not what it is to be`,
    );
  must((ends.get('answered') ?? 0) > total / 2, 'less than half of the messages were answered');
  return { figures: figuresOf(), problems };

  function figuresOf(): Record<string, string | number> {
    return {
      seconds,
      messages: total,
      ...Object.fromEntries([...ends].map(([status, n]) => [`  ${status}`, n])),
      'sends prepared, each ended once': sends.prepared,
      'delivered by providers': channels.reduce((sum, { counts }) => sum + counts.delivered, 0),
      'latency p50 / p99': `${latency.percentile(50)} / ${latency.percentile(99)} ms`,
      dispatches: stats.dispatches,
      'handler calls': stats.handlerCalls,
      ...Object.fromEntries([...failures].map(([kind, n]) => [`  failed: ${kind}`, n])),
      'late results, dropped': stats.late,
      'heap, second third / last third': `${mega(early)} / ${mega(late)}`,
      'event loop delay p99 / longest': `${(loop.percentile(99) / 1e6).toFixed(0)} / ${(loop.max / 1e6).toFixed(0)} ms`,
      'journal: kept / dropped dispatches': `${journaled.dispatches} / ${journaled.dispatchesDropped}`,
      'journal file': mega(bytes),
    };
  }
}

/** What a journal has that did not end: nothing, once a host has stopped. */
async function openIn(path: string): Promise<{ readonly updates: number; readonly sends: number }> {
  const reader = await readJournal(path);
  const updates = await reader.updates({ states: ['accepted', 'handling'] });
  const sends = await reader.sends({ states: ['prepared', 'sending'] });
  await reader.close();
  return { updates: updates.length, sends: sends.length };
}

function mega(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

/** An agent that takes its time, and fails now and then. */
function slowProvider(random: () => number): AgentProvider {
  const echo = echoProvider();
  return {
    ...echo,
    id: 'slow',
    async *run(request) {
      await sleep(20 * random());
      if (random() < 0.02) throw new Error('the model is overloaded');
      yield* echo.run(request);
    },
  };
}

/** Numbers that look random and are the same for a seed: mulberry32. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
