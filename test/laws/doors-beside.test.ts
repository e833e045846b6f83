import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import budget from '../../extensions/budget/src/index.js';
import type { AgentDefinition } from '../../src/host/index.js';
import { memoryJournal } from '../../src/journal/index.js';
import { eventIdOf } from '../../src/journal/internal.js';
import { defineExtension } from '../../src/sdk/extension/index.js';
import { virtualClock } from '../../src/testing/index.js';
import {
  inTable,
  longestOf,
  longestWaitMs,
  misdeeds,
  timed,
  withinMs,
} from '../support/doors-lab.js';
import { hostLab } from '../support/host-lab.js';
import { scriptedChannel } from '../support/scripted-channel.js';

const plan = fc.record({
  times: fc.integer({ min: 1, max: 200 }),
  others: fc.array(fc.nat(500), { minLength: 1, maxLength: 6 }),
});

const besides = {
  'the budget': () => ({
    extensions: [
      {
        extension: budget,
        config: { perPrincipal: { tokens: 100_000 }, perSession: { tokens: 50_000 } },
      },
    ],
  }),
  'a provided agent': (main: AgentDefinition, other: AgentDefinition) => ({
    agents: [main],
    extensions: [
      {
        extension: defineExtension({
          id: 'other',
          setup: (api) => api.provide('agent', other),
        }),
      },
    ],
  }),
} as const;

describe('the law beside what extensions bring (durability §8.9)', () => {
  for (const beside of Object.keys(besides) as (keyof typeof besides)[])
    for (const kind of ['no journal', 'a journal in memory'] as const)
      it.each(Object.keys(misdeeds) as (keyof typeof misdeeds)[])(
        `holds beside ${beside} and %s, with ${kind} (durability §8.9)`,
        async (misdeed) => {
          let longest = 0;
          await fc.assert(
            fc.asyncProperty(plan, async (given) => {
              const waitMs = await longestWaitMs(misdeed, kind, given, besides[beside]);
              longest = Math.max(longest, waitMs);
              expect(waitMs).toBeLessThanOrEqual(withinMs);
            }),
            { numRuns: 2, examples: [[{ times: 130, others: [0, 10] }]] },
          );
          inTable?.(`| ${misdeed} | ${beside}, ${kind} | ${longest} ms |`);
        },
      );
});

describe('the law after a stop (durability §8.9)', () => {
  it('holds after a restart beside a sender to whom no send ends, each in a conversation of its own (durability §8.9)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 100 }), async (times) => {
        const journal = memoryJournal();
        const about = { channel: 'scripted', accountId: 'default', receivedAtMs: 0 };
        const texts = Array.from({ length: 5 }, (_, at) => `good ${at}`);
        for (let at = 0; at < times; at++) {
          const eventId = eventIdOf('scripted', 'default', `bad ${at}`);
          const bad = { text: 'hi', conversation: `bad ${at}`, from: 'bad' };
          await journal.accept({
            eventId,
            ...about,
            updateId: `bad ${at}`,
            body: JSON.stringify(bad),
          });
        }
        for (const text of texts) {
          const eventId = eventIdOf('scripted', 'default', text);
          const body = JSON.stringify({ text, conversation: text, from: text });
          await journal.accept({ eventId, ...about, updateId: text, body });
        }
        const clock = virtualClock();
        const { provider, begunMs } = timed(clock);
        const lab = await hostLab({
          ...{ clock, journal, agents: [{ id: 'main', provider }] },
          channel: scriptedChannel({
            send: async (permit) =>
              permit.take().to.includes('bad')
                ? new Promise(() => undefined)
                : { status: 'sent', receipt: { messageId: '1' } },
          }),
        });
        await clock.advance(withinMs);
        const longest = longestOf(begunMs, new Map(texts.map((text) => [text, 0])));
        expect(longest).toBeLessThanOrEqual(withinMs);
        lab.host.abortTurns();
        const stopping = lab.host.stop({ timeoutMs: 0 });
        await clock.advance(120_000);
        await stopping;
      }),
      { numRuns: 4, examples: [[100]] },
    );
  });
});
