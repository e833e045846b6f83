import fc from 'fast-check';
import { expect, it } from 'vitest';
import { allow, cancel } from '../../src/kernel/internal.js';
import { virtualClock } from '../../src/testing/index.js';
import {
  badMarkup,
  blocked,
  type Fault,
  internalError,
  tooMany,
} from '../support/bot-api/fault.js';
import { messageUpdate } from '../support/bot-api/updates.js';
import { slowly } from '../support/slowly.js';
import { telegramLab } from '../support/telegram-lab.js';
import { end, said, start, toolEnd, toolStart } from '../support/turn-lab.js';

const faults: readonly Fault[] = [
  { pass: true },
  { pass: true },
  tooMany(1),
  tooMany(),
  internalError,
  { html: 502, after: true },
  { reset: true },
  { reset: true, after: true },
  { hang: true, after: true },
  badMarkup,
  blocked,
];
/** Calls that may fail without anybody knowing whether they were made: what they showed may stay. */
const isUnclear = (fault: Fault): boolean =>
  !('pass' in fault) && !('refuse' in fault && fault.refuse !== 500);

const someFaults = fc.array(fc.nat(faults.length - 1), { maxLength: 5 });
const scenario = fc.record({
  streaming: fc.boolean(),
  send: someFaults,
  edit: someFaults,
  remove: fc.array(fc.nat(faults.length - 1), { maxLength: 2 }),
  /** Each so manieth judgement cancels. */
  cancelsEvery: fc.constantFrom(0, 0, 2, 3, 5),
  messages: fc.integer({ min: 1, max: 3 }),
  abortAfterMs: fc.constantFrom(-1, -1, -1, 300, 1_500),
  isLong: fc.boolean(),
});

const terminal = new Set<string>(['egress.sent', 'egress.cancelled', 'egress.failed']);

it('for every message that egress.preparing has judged there is one end, and what was sent is shown once (fault 26, fault 44)', async () => {
  let streamed = 0;
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const clock = virtualClock();
      let judged = 0;
      let answers = 0;
      const provider = slowly(clock, function* () {
        const at = ++answers;
        yield start;
        yield* said(`Let me look, ${at}.`, { calls: [{ id: 't', name: 'read' }] });
        yield toolStart('t');
        yield toolEnd('t');
        yield* said(
          `Answer ${at}: ${'so it is, '.repeat(given.isLong ? 460 : 20)}and that is all.`,
        );
        yield end();
      });
      const lab = await telegramLab({
        clock,
        settings: { streaming: given.streaming },
        agents: [{ id: 'main', provider }],
        failureText: () => undefined,
        contribute: (kernel) =>
          kernel.contribute({
            family: 'egress.preparing',
            class: 'veto',
            extensionId: 'test',
            id: 'some',
            preview: 'ok',
            handler: () => (++judged % given.cancelsEvery === 0 ? cancel('policy') : allow()),
          }),
      });
      const { server } = lab;
      const set = (method: string, some: readonly number[]): void =>
        server.fault(method, ...some.map((at) => faults[at] ?? { pass: true as const }));
      set('sendMessage', given.send);
      set('editMessageText', given.edit);
      set('deleteMessage', given.remove);
      const updates = Array.from({ length: given.messages }, (_, at) =>
        messageUpdate({ updateId: 101 + at, text: `m${at}` }),
      );
      server.give(...updates);
      if (given.abortAfterMs >= 0) {
        const until = clock.now() + given.abortAfterMs;
        await lab.until(() => clock.now() >= until, 'it is time to stop the turns');
        lab.host.abortTurns();
      }
      await lab.until(() => lab.ends.length === given.messages, 'all are done with');
      await lab[Symbol.asyncDispose]();

      const prepared = lab.of('egress.preparing');
      const opened = new Set(prepared.map(({ event }) => event.payload.openedBy));
      const expected = prepared.filter(({ event }) => !opened.has(event.eventId)).length;
      const ended = lab.outcomes.filter(({ event }) => terminal.has(event.family));
      expect(ended).toHaveLength(expected);
      expect(new Set(lab.ends.map(({ updateId }) => updateId)).size).toBe(given.messages);

      streamed += prepared.filter(({ payload }) => payload.streaming).length;
      const used = [...given.send, ...given.edit, ...given.remove].map((at) => faults[at]);
      const isClear = !used.some((fault) => fault !== undefined && isUnclear(fault));
      const shown = server.shown.map(({ text }) => text).join('\n');
      for (const { payload } of lab.of('egress.sent')) {
        const first = payload.content.slice(0, 40);
        const times = shown.split(first).length - 1;
        expect(times, `"${first}" is shown`).toBeGreaterThanOrEqual(1);
        if (isClear) expect(times, `"${first}" is shown`).toBe(1);
      }
      for (const { payload, status } of prepared) {
        if (status !== 'passed' || payload.streaming) continue;
        const first = payload.content.slice(0, 15);
        const whole = server.shown.filter(
          ({ text }) => text.startsWith(first) && !text.endsWith('▌'),
        );
        expect(whole.length, `"${first}" is shown whole`).toBeLessThan(2); // no blind resend
      }
      const isStuck = lab.log.entries.some(({ message }) => message.includes('taken back'));
      if (isClear && !isStuck) expect(shown).not.toContain('▌'); // nothing of a preview stays
    }),
    { numRuns: 30 },
  );
  expect(streamed).toBeGreaterThan(20);
});
