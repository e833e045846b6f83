import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { memoryJournal } from '../../../src/journal/index.js';
import { allow } from '../../../src/kernel/index.js';
import { pause } from '../../../src/sdk/chat/index.js';
import { defineExtension } from '../../../src/sdk/extension/index.js';
import type { AgentProvider } from '../../../src/sdk/stream/index.js';
import { type VirtualClock, virtualClock } from '../../../src/testing/index.js';
import { hostLab } from '../../support/host-lab.js';
import { sharedJournal } from '../../support/shared-journal.js';

/** What becomes of a message when it is claimed for its turn: it goes on, it is routed elsewhere, or a veto cancels it. */
type Again = 'same' | 'elsewhere' | 'cancelled';

interface Said {
  readonly agent: 'main' | 'other';
  readonly session: number;
  readonly conversation: number;
  readonly again: Again;
  readonly afterMs: number;
  /** The extensions are replaced when it has come. */
  readonly isReloaded: boolean;
}

/** The journal of a host: none, its own, or one of several partitions. */
type Kept = 'none' | 'own' | 'shared';

function journalOf(kept: Kept, clock: VirtualClock) {
  if (kept !== 'shared') return kept === 'own' ? { journal: memoryJournal() } : {};
  const shared = sharedJournal(clock);
  shared.give('a', shared.all);
  return { journal: shared.of('a') };
}

const replaced = defineExtension({ id: 'replaced', setup: () => undefined });

/** Hands messages in, and lets each turn take 100 ms. */
async function handled(said: readonly Said[], kept: Kept) {
  const clock = virtualClock();
  const running = new Map<string, number>();
  const begun: string[] = [];
  const most = new Map<string, number>();
  const echo = echoProvider();
  const seen = new Map<string, number>();
  const count = (key: string, by: number): void => {
    running.set(key, (running.get(key) ?? 0) + by);
    most.set(key, Math.max(most.get(key) ?? 0, running.get(key) ?? 0));
  };
  const timed = (id: string): AgentProvider => ({
    ...echo,
    id,
    async *run(request) {
      const keys = [id, request.sessionKey];
      begun.push(request.prompt);
      for (const key of keys) count(key, 1);
      await pause(clock, 100, request.signal);
      for (const key of keys) count(key, -1);
      yield* echo.run(request);
    },
  });
  const of = (text: string): Said => said[Number(text)] as Said;
  const lab = await hostLab({
    ...{ clock, lanes: { maxRunning: 4 }, ...journalOf(kept, clock) },
    extensions: [{ extension: replaced }],
    agents: [
      { id: 'main', provider: timed('main'), maxRunning: 1 },
      { id: 'other', provider: timed('other'), maxRunning: 2 },
    ],
    contribute: (kernel) => {
      kernel.contribute({
        ...{ extensionId: 'test', id: 'again', family: 'routing.resolving', class: 'resolver' },
        handler: ({ payload: { message } }) => {
          const { agent, session, again } = of(message.content);
          const times = (seen.get(message.content) ?? 0) + 1;
          seen.set(message.content, times);
          const target =
            times === 1 || again === 'same'
              ? { agentId: agent, sessionKey: `s-${session}` }
              : { agentId: again === 'elsewhere' ? 'main' : 'nobody', sessionKey: 'elsewhere' };
          return { kind: 'select', target, explicit: true, rank: 1 };
        },
      });
      kernel.contribute({
        ...{ extensionId: 'test', id: 'vetoed', family: 'routing.resolving', class: 'veto' },
        handler: ({ payload: { message } }) =>
          of(message.content).again === 'cancelled' && (seen.get(message.content) ?? 0) > 1
            ? { kind: 'cancel', code: 'policy', reason: 'not now' }
            : allow(),
      });
    },
  });
  const reloads: Promise<unknown>[] = [];
  for (const [at, { afterMs, isReloaded, conversation }] of said.entries()) {
    await clock.advance(afterMs);
    void lab.channel.receive(
      { text: `${at}`, conversation: `c-${conversation}`, from: `p-${at}` },
      `${at}`,
    );
    if (isReloaded) reloads.push(lab.host.reload());
  }
  await clock.advance(said.length * 400 + 10_000);
  await Promise.all(reloads);
  const stats = lab.host.stats();
  await lab[Symbol.asyncDispose]();
  return { lab, begun, most, seen, stats };
}

const said = fc.record({
  agent: fc.constantFrom('main' as const, 'other' as const),
  session: fc.nat(3),
  conversation: fc.nat(30),
  again: fc.constantFrom<Again>('same', 'same', 'elsewhere', 'cancelled'),
  afterMs: fc.nat(40),
  isReloaded: fc.nat(5).map((die) => die === 0),
});

const messageOf = (more: Partial<Said>): Said => ({
  ...{ agent: 'main', again: 'same', session: 0, conversation: 0, afterMs: 5, isReloaded: false },
  ...more,
});

describe('messages that wait for their session or their agent', () => {
  it.each(['none', 'own', 'shared'] as const)(
    'come each to one answer, few of a session or an agent at once, wherever they wait, and no place is lost, also over reloads (durability §8.6, durability §8.8, journal: %s)',
    async (kept) => {
      await fc.assert(
        fc.asyncProperty(fc.array(said, { minLength: 8, maxLength: 40 }), async (plan) => {
          const { lab, begun, most, seen, stats } = await handled(plan, kept);
          const isLost = (at: string) =>
            plan[Number(at)]?.again === 'cancelled' && (seen.get(at) ?? 0) > 1;
          const texts = plan.map((_, at) => `${at}`);
          expect(begun.toSorted()).toEqual(texts.filter((at) => !isLost(at)).toSorted());
          expect(lab.ends).toHaveLength(texts.length);
          for (const { updateId = '', status } of lab.ends)
            expect(status).toBe(isLost(updateId) ? 'cancelled' : 'answered');
          for (const [key, times] of most)
            expect(times).toBeLessThanOrEqual(key === 'other' ? 2 : 1);
          expect(Math.max(...seen.values())).toBeLessThanOrEqual(3);
          expect(lab.log.messages('warn')).toEqual([]); // no reload has given up waiting
          expect(stats).toMatchObject({ running: 0, waiting: 0, conversations: 0 });
        }),
        { numRuns: 30 },
      );
    },
  );

  it('go on before one of a lower number that waits for their session, also if they have waited in the journal (durability §12.8)', async () => {
    const first = messageOf({ session: 0, conversation: 0 });
    const others = [1, 2, 3, 4].map((at) => messageOf({ session: 10 + at, conversation: at }));
    const held = [
      messageOf({ session: 2, conversation: 0 }),
      messageOf({ session: 2, conversation: 9 }),
    ];
    const { begun, stats } = await handled([first, ...others, ...held], 'shared');
    expect(begun).toEqual(['0', '1', '2', '3', '4', '6', '5']);
    expect(stats).toMatchObject({ running: 0, waiting: 0 });
  });

  it('leave their places to those that have begun, if extensions are replaced (durability §8.6)', async () => {
    const plan = [...Array(7).fill(5), 110, 30].map((afterMs: number, at) =>
      messageOf({ session: at, conversation: at, afterMs, isReloaded: at === 8 }),
    );
    const { lab, begun } = await handled(plan, 'own');
    expect(lab.log.messages('warn')).toEqual([]); // the reload has not given up waiting
    expect(begun.toSorted()).toEqual(plan.map((_, at) => `${at}`));
  });
});
