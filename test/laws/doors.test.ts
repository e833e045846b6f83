import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../src/agent/index.js';
import { memoryJournal, openJournal } from '../../src/journal/index.js';
import { pause } from '../../src/sdk/chat/index.js';
import type { AgentProvider } from '../../src/sdk/stream/index.js';
import { type VirtualClock, virtualClock } from '../../src/testing/index.js';
import { testFolder } from '../support/folder.js';
import { type HostLab, hostLab } from '../support/host-lab.js';
import { scriptedChannel } from '../support/scripted-channel.js';

/** Milliseconds of the host's clock in which each message begins, whatever another one does. */
const withinMs = 3_000;

/** Says when the turn of each message began, by the first word of its prompt: "slow" takes its time, and "hang" never ends. */
function timed(clock: VirtualClock, id = 'echo') {
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

const kinds = {
  'no journal': () => undefined,
  'a journal in memory': () => memoryJournal(),
  'a journal in a file': () => openJournal(join(testFolder(), 'sluice.db')),
} as const;

/** The things that one may do, each some times. */
const misdeeds = {
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

const inTable = process.env['DOORS_TABLE'] === undefined ? undefined : console.log;

/** Does the misdeed before and among the messages of others. @returns the longest time until one of those began. */
async function longestWaitMs(
  misdeed: keyof typeof misdeeds,
  kind: keyof typeof kinds,
  plan: { readonly times: number; readonly others: readonly number[] },
): Promise<number> {
  const clock = virtualClock();
  const [main, other] = [timed(clock), timed(clock, 'other')];
  const journal = await kinds[kind]();
  const lab = await hostLab({
    ...{ clock, ...(journal && { journal }) },
    agents: [
      { id: 'main', provider: main.provider, timeoutMs: false },
      { id: 'other', provider: other.provider, timeoutMs: false },
    ],
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
  const waits = [...handedMs].map(
    ([text, ms]) => (main.begunMs.get(text) ?? Number.POSITIVE_INFINITY) - ms,
  );
  lab.host.abortTurns();
  const stopping = lab.host.stop({ timeoutMs: 0 });
  await clock.advance(120_000);
  await stopping;
  return Math.max(...waits);
}

describe('the law for all doors (durability §8.9)', () => {
  for (const misdeed of Object.keys(misdeeds) as (keyof typeof misdeeds)[])
    it.each(Object.keys(kinds) as (keyof typeof kinds)[])(
      `holds beside ${misdeed}, with %s (durability §8.9)`,
      async (kind) => {
        let longest = 0;
        await fc.assert(
          fc.asyncProperty(
            fc.record({
              times: fc.integer({ min: 1, max: kind === 'a journal in a file' ? 130 : 250 }),
              others: fc.array(fc.nat(500), { minLength: 1, maxLength: 6 }),
            }),
            async (plan) => {
              const waitMs = await longestWaitMs(misdeed, kind, plan);
              longest = Math.max(longest, waitMs);
              expect(waitMs).toBeLessThanOrEqual(withinMs);
            },
          ),
          {
            numRuns: kind === 'a journal in a file' ? 2 : 4,
            examples: [[{ times: 130, others: [0, 10] }]],
          },
        );
        inTable?.(`| ${misdeed} | fake channel, ${kind} | ${longest} ms |`);
      },
    );
});
