import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  cancel,
  type FamilyName,
  type Kernel,
  type Outcome,
  openKernel,
  type PayloadOf,
} from '../../../src/kernel/internal.js';
import type { SendResult } from '../../../src/sdk/channel/index.js';
import type { VirtualClock } from '../../../src/testing/index.js';
import { hostLab } from '../../support/host-lab.js';
import { scriptedChannel } from '../../support/scripted-channel.js';

const terminal = new Set<FamilyName>(['egress.sent', 'egress.cancelled', 'egress.failed']);
const places = [
  'ingress.normalized',
  'routing.resolved',
  'session.starting',
  'agent.starting',
  'agent.llm.input',
  'agent.tool.calling',
  'agent.completed',
  'egress.preparing',
  'egress.sending',
  'egress.sent',
  'egress.cancelled',
  'egress.failed',
] as const;

/** What may go wrong: a handler that throws, hangs or is slow somewhere, a veto, and what the channel answers. */
const trouble = fc.record({
  handlers: fc.array(
    fc.record({
      family: fc.constantFrom(...places),
      does: fc.constantFrom('throw', 'hang', 'wait'),
      every: fc.integer({ min: 1, max: 3 }),
    }),
    { maxLength: 4 },
  ),
  vetoes: fc.array(
    fc.record({
      does: fc.constantFrom('cancel', 'throw', 'hang'),
      failClosed: fc.boolean(),
      every: fc.integer({ min: 1, max: 3 }),
    }),
    { maxLength: 2 },
  ),
  answers: fc.array(
    fc.constantFrom(
      'sent',
      'rejected',
      'retry-after',
      'ambiguous',
      'throw',
      'hang',
      'nothing',
      'claim',
    ),
    { minLength: 1, maxLength: 5 },
  ),
  ambiguous: fc.constantFrom('fail' as const, 'resend' as const, 'ask' as const),
  messages: fc.integer({ min: 1, max: 4 }),
  /** When the host is stopped, and how much time it has; -1: only when all is done. */
  stopAfterMs: fc.constantFrom(-1, -1, 0, 1, 20_000, 70_000),
  budgetMs: fc.constantFrom(0, 5_000),
});

type Trouble = typeof trouble extends fc.Arbitrary<infer T> ? T : never;

function misbehave(clock: VirtualClock, does: string): Promise<never> | undefined {
  if (does === 'throw') throw new Error('trouble');
  if (does === 'hang') return new Promise(() => undefined);
  return new Promise((resolve) => clock.setTimeout(() => resolve(undefined as never), 1_000));
}

function contribute(kernel: Kernel, clock: VirtualClock, { handlers, vetoes }: Trouble): void {
  for (const [i, { family, does, every }] of handlers.entries()) {
    let calls = 0;
    kernel.contribute({
      family,
      class: 'observer',
      extensionId: 'trouble',
      id: `h${i}`,
      handler: () => (++calls % every === 0 ? misbehave(clock, does) : undefined),
    });
  }
  for (const [i, { does, failClosed, every }] of vetoes.entries()) {
    let calls = 0;
    openKernel(kernel).contribute({
      family: 'egress.preparing',
      class: 'veto',
      extensionId: 'trouble',
      id: `v${i}`,
      failClosed,
      handler: () => {
        if (++calls % every !== 0) return { kind: 'allow' };
        return does === 'cancel' ? cancel('policy') : misbehave(clock, does);
      },
    });
  }
}

/** What tells the sends of this test apart. */
function sendOf({ event }: Outcome): string {
  const { kind, content } = event.payload as PayloadOf<'egress.preparing'>; // of an egress family
  return `${event.correlationId} ${kind} ${content}`;
}

it('fault 26: every prepared send has exactly one terminal event, whatever goes wrong', async () => {
  await fc.assert(
    fc.asyncProperty(trouble, async (given) => {
      let attempts = 0;
      let taken = 0;
      const channel = scriptedChannel({
        resendPolicy: { ambiguous: given.ambiguous },
        deduplicatesSends: true,
        send: async (permit): Promise<SendResult> => {
          const answer = given.answers[attempts++ % given.answers.length];
          if (answer !== 'claim') {
            permit.take();
            taken++;
          }
          if (answer === 'throw') throw new Error('trouble');
          if (answer === 'hang') return new Promise(() => undefined);
          if (answer === 'nothing') return undefined as unknown as SendResult; // as a careless channel does
          if (answer === 'rejected') return { status: 'rejected', reason: 'no' };
          if (answer === 'ambiguous') return { status: 'ambiguous', reason: 'lost' };
          if (answer === 'retry-after') return { status: 'retry-after', retryAfterMs: 3_000 };
          return { status: 'sent', receipt: {} };
        },
      });
      const lab = await hostLab({
        channel,
        onAmbiguousSend: async () => 'resend',
      });
      contribute(lab.kernel, lab.clock, given);
      for (let i = 0; i < given.messages; i++)
        void lab.say({ text: `m${i}`, conversation: `c${i % 2}` });
      if (given.stopAfterMs >= 0) await lab.clock.advance(given.stopAfterMs);
      else await lab.clock.advance(3_000_000);
      const stopping = lab.host.stop({ timeoutMs: given.budgetMs });
      await lab.clock.advance(3_000_000);
      await stopping;

      const prepared = lab.of('egress.preparing');
      const approved = prepared.filter(({ status }) => status === 'passed').length;
      const ended = lab.outcomes.filter(({ event }) => terminal.has(event.family));
      expect(ended.map(sendOf).toSorted()).toEqual(
        prepared.map((outcome) => sendOf(outcome)).toSorted(),
      );
      expect(lab.of('egress.cancelled')).toHaveLength(
        prepared.filter(({ status }) => status === 'cancelled').length,
      );
      expect(lab.ends).toHaveLength(given.messages);
      expect(taken).toBeLessThanOrEqual(approved * 3); // maxAttempts
      expect(lab.host.state).toBe('stopped');
    }),
    { numRuns: 100 },
  );
});
