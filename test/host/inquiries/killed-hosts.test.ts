import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Journal, memoryJournal, openJournal } from '../../../src/journal/index.js';
import type { Question, QuestionEnd } from '../../../src/sdk/extension/index.js';
import { actingLab } from '../../support/acting-lab.js';
import { scriptedChannel } from '../../support/scripted-channel.js';

async function settled(isSo: () => boolean): Promise<void> {
  for (let turns = 0; turns < 1_000 && !isSo(); turns++) await new Promise(setImmediate);
}

const maxAttempts = 20; // more than there are deaths: none becomes a dead letter

/** A host that asks `deploy` in the conversations of its people. */
async function host(journal: Journal, handled: QuestionEnd<unknown>[]) {
  let deploy: Question<unknown> | undefined;
  const lab = await actingLab({
    journal,
    journalSettings: { maxAttempts },
    channel: scriptedChannel({ deduplicatesSends: true, resendPolicy: { ambiguous: 'resend' } }),
    setup: (api) => {
      deploy = api.question<unknown>('deploy', (end) => void handled.push(end));
    },
  });
  const ask = (who: number) =>
    deploy?.ask(
      { channel: 'scripted', to: `scripted:${who}` },
      { content: 'Deploy?', options: ['Yes', 'No'] },
      { key: `deploy/${who}`, data: who },
    );
  const answer = (who: number, text: string) =>
    lab.channel.receive({ text, conversation: `scripted:${who}` }, `${who} says ${text}`);
  return { ...lab, ask, answer };
}

const round = fc.record({
  asked: fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 3 }),
  answers: fc.array(
    fc.record({ who: fc.integer({ min: 0, max: 2 }), text: fc.constantFrom('yes', 'no') }),
    { maxLength: 4 },
  ),
  /** Turns of the event loop that the host lives on before the answers, and after them. */
  turns: fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 12 })),
});

const journals: readonly [string, () => Promise<Journal>][] = [
  ['in memory', async () => memoryJournal()],
  ['in a file', () => openJournal(':memory:')],
];

it.each(journals)(
  'hosts that are killed count an answer once and lose none, with a journal %s (extensions-that-act §7.6)',
  async (_, journalOf) => {
    await fc.assert(
      fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 4 }), async (rounds) => {
        const journal = await journalOf();
        const handled: QuestionEnd<unknown>[] = [];
        for (const { asked, answers, turns } of rounds) {
          const lab = await host(journal, handled);
          for (const who of asked) void lab.ask(who)?.catch(() => undefined);
          for (let turn = 0; turn < turns[0]; turn++) await new Promise(setImmediate);
          for (const { who, text } of answers) void lab.answer(who, text);
          for (let turn = 0; turn < turns[1]; turn++) await new Promise(setImmediate);
          await lab.kill();
        }
        const last = await host(journal, handled);
        await last.clock.advance(15_000); // a last attempt waits
        for (const { asked } of rounds) for (const who of asked) await last.ask(who);
        for (const { answers } of rounds)
          for (const { who, text } of answers) await last.answer(who, text);
        await last.clock.advance(15_000);
        await settled(() => last.host.stats().conversations === 0);
        const all = await journal.updates({ limit: 1_000 });
        expect(all.filter(({ state }) => state !== 'ended')).toEqual([]);
        const counted = all.filter(({ outcome }) => outcome === 'answer');
        const ids = new Set(handled.map(({ id }) => id));
        // each answer that was taken reached the handler, and each question has one
        expect(counted).toHaveLength(ids.size);
        for (const { updateId } of counted)
          expect(
            handled.some(
              (end) =>
                end.status === 'answered' &&
                `${String(end.data)} says ${end.answer.toLowerCase()}` === updateId,
            ),
          ).toBe(true);
        const ends = new Set(
          handled.map(({ id, ...end }) =>
            JSON.stringify([id, end.status, 'answer' in end && end.answer]),
          ),
        );
        expect(ends.size).toBe(ids.size);
        const jobs = all.filter(({ outcome }) => outcome === 'job');
        expect(jobs).toHaveLength(ids.size);
        // nothing is left: an open question that nobody answers has its row, and no other
        const rows = await journal.keyValues.list('/questions/acting', { prefix: '', limit: 10 });
        expect(rows.every(({ body }) => !('end' in JSON.parse(body)))).toBe(true);
        await last[Symbol.asyncDispose]();
      }),
      { numRuns: Number(process.env['ACTS_RUNS'] ?? 20) },
    );
  },
);
