import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  allow,
  cancel,
  type Kernel,
  type Outcome,
  openKernel,
  type PayloadOf,
} from '../../../src/kernel/internal.js';
import type { SendResult } from '../../../src/sdk/channel/index.js';
import { type VirtualClock, virtualClock } from '../../../src/testing/index.js';
import { hostLab } from '../../support/host-lab.js';
import { slowly } from '../../support/slowly.js';
import { type SenderCall, streamingChannel } from '../../support/streaming-channel.js';
import { end, said, start, toolEnd, toolStart } from '../../support/turn-lab.js';

const terminal = new Set(['egress.sent', 'egress.cancelled', 'egress.failed']);

const handlers = fc.array(
  fc.record({
    class: fc.constantFrom('veto' as const, 'mutator' as const),
    does: fc.constantFrom('nothing', 'cancel', 'throw', 'hang', 'wait'),
    every: fc.integer({ min: 1, max: 4 }),
    failClosed: fc.boolean(),
    /** Rarely without it: then nothing streams. */
    preview: fc.constantFrom(true, true, true, false),
  }),
  { maxLength: 3 },
);

const faults = fc.array(
  fc.record({
    call: fc.constantFrom<SenderCall>('thinking', 'content', 'final', 'error', 'abort'),
    does: fc.constantFrom('throw', 'hang', 'wait'),
    every: fc.integer({ min: 1, max: 4 }),
  }),
  { maxLength: 3 },
);

const reports = fc.constantFrom('sent', 'rejected', 'retry-after', 'ambiguous', 'none');

const scenario = fc.record({
  handlers,
  faults,
  reports: fc.array(reports, { minLength: 1, maxLength: 3 }),
  sends: fc.array(fc.constantFrom('sent', 'rejected', 'throw', 'hang'), { minLength: 1 }),
  createThrows: fc.constantFrom(false, false, false, true),
  ignoresFinal: fc.constantFrom(false, false, false, true),
  reasoning: fc.constantFrom('off' as const, 'stream' as const),
  fails: fc.boolean(),
  messages: fc.integer({ min: 1, max: 3 }),
  abortAfterMs: fc.constantFrom(-1, -1, 0, 60, 90, 130, 200, 1_200),
  stopAfterMs: fc.constantFrom(-1, -1, 100, 5_000),
});

type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

function misbehave(clock: VirtualClock, does: string): Promise<never> | undefined {
  if (does === 'throw') throw new Error('trouble');
  if (does === 'hang') return new Promise(() => undefined);
  if (does === 'wait')
    return new Promise((resolve) => clock.setTimeout(() => resolve(undefined as never), 30));
  return undefined;
}

function contribute(kernel: Kernel, clock: VirtualClock, given: Scenario): void {
  for (const [i, one] of given.handlers.entries()) {
    let calls = 0;
    const isDue = (): boolean => ++calls % one.every === 0;
    const at = {
      family: 'egress.preparing',
      extensionId: 'trouble',
      id: `h${i}`,
      timeoutMs: 500,
      ...(one.preview && { preview: 'ok' as const }),
    } as const;
    if (one.class === 'veto')
      openKernel(kernel).contribute({
        ...{ ...at, class: 'veto', failClosed: one.failClosed },
        handler: () => {
          if (!isDue()) return allow();
          return one.does === 'cancel' ? cancel('policy') : misbehave(clock, one.does);
        },
      });
    else
      kernel.contribute({
        ...{ ...at, class: 'mutator' },
        handler: ({ payload }) =>
          isDue() ? misbehave(clock, one.does) : { content: `${payload.content}~` },
      });
  }
}

function resultOf(name: string | undefined): SendResult | undefined {
  if (name === 'sent') return { status: 'sent', receipt: { messageId: 'm' } };
  if (name === 'rejected') return { status: 'rejected', reason: 'no' };
  if (name === 'retry-after') return { status: 'retry-after', retryAfterMs: 300 };
  if (name === 'ambiguous') return { status: 'ambiguous', reason: 'lost' };
  return undefined;
}

/** What tells one send from another, in what was judged and in how it ended. */
function sendOf(correlationId: string, payload: unknown): string {
  const { kind, content, openedBy } = payload as PayloadOf<'egress.preparing'>; // of an egress family
  return JSON.stringify([correlationId, kind, content, openedBy ?? '']);
}

it('fault 26: a streamed reply is one send with one end, is shown whole once at most, and leaves no preview (§14.8, §14.9)', async () => {
  let streamed = 0;
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const clock = virtualClock();
      let finals = 0;
      let attempts = 0;
      const seen = new Map<SenderCall, number>();
      const channel = streamingChannel({
        createThrows: given.createThrows,
        ignoresFinal: given.ignoresFinal,
        before: (call) => {
          const count = (seen.get(call) ?? 0) + 1;
          seen.set(call, count);
          for (const fault of given.faults)
            if (fault.call === call && count % fault.every === 0)
              return misbehave(clock, fault.does);
          return undefined;
        },
        report: () => resultOf(given.reports[finals++ % given.reports.length]),
        send: async (permit, sent) => {
          const answer = given.sends[attempts++ % given.sends.length];
          const message = permit.take();
          if (answer !== 'rejected') sent.push(message);
          if (answer === 'throw' || answer === 'hang') await misbehave(clock, answer);
          return resultOf(answer) ?? { status: 'rejected', reason: 'no' };
        },
      });
      const provider = slowly(clock, function* () {
        yield start;
        yield* said('Let me look.', { thinking: 'Where?', calls: [{ id: 't', name: 'read' }] });
        yield toolStart('t');
        yield toolEnd('t');
        yield* said('It is empty, I think.');
        if (given.fails) throw new Error('overloaded');
        yield* said('And that is all.');
        yield end();
      });
      const lab = await hostLab({
        ...{ clock, channel, budgets: { sendTimeoutMs: 1_000 }, failureText: () => undefined },
        agents: [{ id: 'main', provider }],
        replies: { reasoningMode: given.reasoning },
      });
      contribute(lab.kernel, clock, given);
      for (let i = 0; i < given.messages; i++) void lab.say({ text: `m${i}` });
      if (given.abortAfterMs >= 0) {
        await clock.advance(given.abortAfterMs);
        lab.host.abortTurns();
      }
      await clock.advance(given.stopAfterMs >= 0 ? given.stopAfterMs : 400_000);
      const stopping = lab.host.stop({ timeoutMs: 0 });
      await clock.advance(400_000);
      await stopping;

      const prepared = lab.of('egress.preparing');
      const finished = new Set(prepared.map(({ event }) => event.payload.openedBy));
      const expected = prepared
        .filter(({ event }) => !finished.has(event.eventId)) // an opening ends with its final
        .map(({ event, payload }) => sendOf(event.correlationId, payload));
      const ended = lab.outcomes
        .filter(({ event }) => terminal.has(event.family))
        .map(({ event }: Outcome) => sendOf(event.correlationId, event.payload));
      expect(ended.toSorted()).toEqual(expected.toSorted());
      expect(lab.ends).toHaveLength(given.messages);

      const openings = prepared.filter(({ event }) => event.payload.streaming);
      const opened = openings.filter(({ status }) => status === 'passed').length;
      const whole = channel.everShown.filter(({ by }) => by !== 'preview');
      const approved = prepared.filter(
        ({ status, event }) => status === 'passed' && !event.payload.streaming,
      );
      for (const { payload } of approved) {
        const shown = whole.filter(({ text }) => text === payload.content).length;
        const same = approved.filter((one) => one.payload.content === payload.content).length;
        expect(shown, `"${payload.content}" is shown once at most`).toBeLessThanOrEqual(same);
      }
      if (opened === 0) expect(channel.everShown.some(({ by }) => by === 'preview')).toBe(false);
      else streamed++;
      const mayStay = given.faults.some(({ call }) => call === 'abort' || call === 'error');
      if (!mayStay && !given.faults.some(({ does }) => does === 'hang' || does === 'wait'))
        expect(channel.screen.filter(({ by }) => by === 'preview')).toEqual([]);
      expect(lab.host.state).toBe('stopped');
    }),
    { numRuns: 150 },
  );
  expect(streamed).toBeGreaterThan(50); // it is not about plain sends only
});
