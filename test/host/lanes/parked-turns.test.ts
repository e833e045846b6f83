import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { memoryJournal } from '../../../src/journal/index.js';
import { allow } from '../../../src/kernel/index.js';
import { pause } from '../../../src/sdk/chat/index.js';
import type { AgentProvider } from '../../../src/sdk/stream/index.js';
import { virtualClock } from '../../../src/testing/index.js';
import { hostLab } from '../../support/host-lab.js';

/** What becomes of a message when it is claimed for its turn: it goes on, it is routed elsewhere, or a veto cancels it. */
type Again = 'same' | 'elsewhere' | 'cancelled';

interface Said {
  readonly agent: 'main' | 'other';
  readonly session: number;
  readonly again: Again;
  readonly afterMs: number;
}

/** Hands messages in, and lets each turn take 100 ms. */
async function handled(said: readonly Said[], isKept: boolean) {
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
    ...{ clock, lanes: { maxRunning: 4 }, ...(isKept && { journal: memoryJournal() }) },
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
  for (const [at, { afterMs }] of said.entries()) {
    await clock.advance(afterMs);
    void lab.channel.receive({ text: `${at}`, conversation: `c-${at}`, from: `p-${at}` }, `${at}`);
  }
  await clock.advance(said.length * 400 + 10_000);
  const stats = lab.host.stats();
  await lab[Symbol.asyncDispose]();
  return { lab, begun, most, seen, stats };
}

const said = fc.record({
  agent: fc.constantFrom('main' as const, 'other' as const),
  session: fc.nat(3),
  again: fc.constantFrom<Again>('same', 'same', 'elsewhere', 'cancelled'),
  afterMs: fc.nat(40),
});

describe('messages that wait for their session or their agent', () => {
  it.each([true, false])(
    'come each to one answer, few of a session or an agent at once, wherever they wait, and no place is lost (durability §8.6, durability §8.8, with a journal: %s)',
    async (isKept) => {
      await fc.assert(
        fc.asyncProperty(fc.array(said, { minLength: 8, maxLength: 40 }), async (plan) => {
          const { lab, begun, most, seen, stats } = await handled(plan, isKept);
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
          expect(stats).toMatchObject({ running: 0, waiting: 0, conversations: 0 });
        }),
        { numRuns: 30 },
      );
    },
  );
});
