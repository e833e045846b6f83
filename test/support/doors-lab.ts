import { join } from 'node:path';
import { echoProvider } from '../../src/agent/index.js';
import type { AgentDefinition } from '../../src/host/index.js';
import { memoryJournal, openJournal } from '../../src/journal/index.js';
import { pause } from '../../src/sdk/chat/index.js';
import type { AgentProvider } from '../../src/sdk/stream/index.js';
import { type VirtualClock, virtualClock } from '../../src/testing/index.js';
import { testFolder } from './folder.js';
import { type HostLab, type HostLabOptions, hostLab } from './host-lab.js';
import { scriptedChannel } from './scripted-channel.js';

/** Milliseconds of the host's clock in which each message begins, whatever another one does. */
export const withinMs = 3_000;

/** Says when the turn of each message began, by the first word of its prompt: "slow" takes its time, and "hang" never ends. */
export function timed(clock: VirtualClock, id = 'echo') {
  const echo = echoProvider();
  const begunMs = new Map<string, number>();
  const provider: AgentProvider = {
    ...echo,
    id,
    async *run(request) {
      const { prompt, signal } = request;
      begunMs.set(prompt, clock.monotonicMs());
      if (prompt.startsWith('slow')) await pause(clock, 400, signal);
      if (prompt.startsWith('hang'))
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      if (!signal.aborted) yield* echo.run(request);
    },
  };
  return { provider, begunMs };
}

/** The longest time until the turn of one of these messages began. */
export function longestOf(
  begunMs: ReadonlyMap<string, number>,
  handedMs: ReadonlyMap<string, number>,
) {
  const waits = [...handedMs].map(([text, ms]) => (begunMs.get(text) ?? Infinity) - ms);
  return Math.max(...waits);
}

export const kinds = {
  'no journal': () => undefined,
  'a journal in memory': () => memoryJournal(),
  'a journal in a file': () => openJournal(join(testFolder(), 'sluice.db')),
} as const;

/** The things that one may do, each some times. */
export const misdeeds = {
  'a conversation that writes much': (lab: HostLab, times: number) => {
    for (let at = 0; at < times; at++) bad(lab, `slow ${at}`, 'bad', 'bad');
  },
  'a conversation whose turns hang': (lab: HostLab, times: number) => {
    for (let at = 0; at < times; at++) bad(lab, `hang ${at}`, 'bad', 'bad');
  },
  'a sender whose turns hang, each in a conversation of its own': (lab: HostLab, times: number) => {
    for (let at = 0; at < times; at++) bad(lab, `hang ${at}`, `bad ${at}`, 'bad');
  },
  'an agent whose turns hang, each of another sender': (lab: HostLab, times: number) => {
    for (let at = 0; at < times; at++) bad(lab, `hang other ${at}`, `bad ${at}`, `bad ${at}`);
  },
  'a sender for whom a handler hangs': (lab: HostLab, times: number) => {
    for (let at = 0; at < times; at++) bad(lab, `stuck ${at}`, `bad ${at}`, 'bad');
  },
  'a sender to whom no send ends': (lab: HostLab, times: number) => {
    for (let at = 0; at < times; at++) bad(lab, `hi ${at}`, `bad ${at}`, 'bad');
  },
} as const;

function bad(lab: HostLab, text: string, conversation: string, from: string): void {
  void lab.channel.receive({ text, conversation, from }, `bad-${conversation}-${text}`);
}

/** Writes a row of the table of the law, if `DOORS_TABLE` is set. */
export const inTable = process.env['DOORS_TABLE'] === undefined ? undefined : console.log;

/** Does the misdeed before and among the messages of others. @returns the longest time until one of those began. */
export async function longestWaitMs(
  misdeed: keyof typeof misdeeds,
  kind: keyof typeof kinds,
  plan: { readonly times: number; readonly others: readonly number[] },
  beside: (main: AgentDefinition, other: AgentDefinition) => HostLabOptions = () => ({}),
): Promise<number> {
  const clock = virtualClock();
  const [main, other] = [timed(clock), timed(clock, 'other')];
  const journal = await kinds[kind]();
  const agents = [
    { id: 'main', provider: main.provider, timeoutMs: false },
    { id: 'other', provider: other.provider, timeoutMs: false },
  ] as const;
  const lab = await hostLab({
    ...{ clock, ...(journal && { journal }) },
    agents,
    ...beside(...agents),
    channel: scriptedChannel({
      send: async (permit, sent) => {
        const message = permit.take();
        if (message.to.includes('bad')) return new Promise(() => undefined);
        sent.push(message);
        return { status: 'sent', receipt: { messageId: `${sent.length}` } };
      },
    }),
    contribute: (kernel) => {
      const by = { extensionId: 'test' } as const;
      kernel.contribute({
        ...{ ...by, family: 'routing.resolving', class: 'resolver', id: 'by-word' },
        handler: ({ payload: { message } }) => ({
          kind: 'select',
          target: { agentId: message.content.includes('other') ? 'other' : 'main' },
          explicit: true,
          rank: 1,
        }),
      });
      kernel.contribute({
        ...{ ...by, family: 'ingress.normalized', class: 'mutator', id: 'stuck' },
        handler: async ({ payload: { content } }) => {
          if (content.startsWith('stuck')) await new Promise(() => undefined);
          return undefined;
        },
      });
    },
  });
  const handedMs = new Map<string, number>();
  misdeeds[misdeed](lab, plan.times);
  for (const [at, afterMs] of plan.others.entries()) {
    await clock.advance(afterMs);
    const text = `good ${at}`;
    handedMs.set(text, clock.monotonicMs());
    void lab.channel.receive({ text, conversation: text, from: text }, text);
  }
  const areAllBegun = () => [...handedMs.keys()].every((text) => main.begunMs.has(text));
  for (let ms = 0; ms < withinMs && !areAllBegun(); ms += 20) await clock.advance(20);
  lab.host.abortTurns();
  const stopping = lab.host.stop({ timeoutMs: 0 });
  await clock.advance(120_000);
  await stopping;
  return longestOf(main.begunMs, handedMs);
}
