import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../src/agent/index.js';
import { createHost } from '../../src/host/index.js';
import { cancel, type Outcome } from '../../src/kernel/internal.js';
import type { ChannelPlugin, SendResult } from '../../src/sdk/channel/index.js';
import { faultClock, settleAll } from '../support/faults-clock.js';
import type { LabContribution, LabKernel } from '../support/kernel-lab.js';

const terminal = ['egress.sent', 'egress.cancelled', 'egress.failed'];

const hangs = (): Promise<never> => new Promise(() => undefined);
const throws = (): never => {
  throw new Error('boom');
};

/** What a handler on the way out may do. */
const acts: Readonly<Record<string, () => unknown>> = {
  nothing: () => undefined,
  throws,
  rejects: () => Promise.reject(new Error('boom')),
  hangs,
  cancels: () => cancel('policy'),
  cancelsLate: () => Promise.resolve(cancel('unsafe')),
  wrong: () => ({ content: 7 }),
  patches: () => ({ content: 'patched' }),
};

/** What a channel's send may come to. */
const answers: Readonly<Record<string, (taken: () => void) => Promise<SendResult>>> = {
  sent: async (take) => {
    take();
    return { status: 'sent', receipt: { messageId: 'm' } };
  },
  sentWithoutTaking: async () => ({ status: 'sent', receipt: {} }),
  takesTwice: async (take) => {
    take();
    take();
    return { status: 'sent', receipt: {} };
  },
  rejected: async () => ({ status: 'rejected', reason: 'blocked' }),
  retryAfter: async () => ({ status: 'retry-after', retryAfterMs: 50 }),
  ambiguous: async (take) => {
    take();
    return { status: 'ambiguous', reason: 'lost' };
  },
  throws: async () => throws(),
  throwsAtOnce: throws,
  hangs,
  nothing: async () => undefined as never,
  hostile: async () => new Proxy({}, { get: throws }) as never,
};

const handlers = fc.array(
  fc.record({
    family: fc.constantFrom('egress.preparing', 'egress.sending', ...terminal),
    class: fc.constantFrom('observer', 'mutator', 'veto'),
    act: fc.constantFrom(...Object.keys(acts)),
    failClosed: fc.boolean(),
  }),
  { maxLength: 4 },
);

const scenario = fc.record({
  handlers,
  answers: fc.array(fc.constantFrom(...Object.keys(answers)), { minLength: 1, maxLength: 4 }),
  abortAfterMs: fc.option(fc.constantFrom(0, 10, 5_000, 40_000)),
  stopAfterMs: fc.option(fc.constantFrom(0, 20_000)),
  ownSignal: fc.boolean(),
  explicit: fc.boolean(),
});

describe('fault 26: exactly one terminal egress event for each prepared send (P)', () => {
  it('P: under random throws, timeouts, vetoes, wrong answers and aborts', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (given) => {
        const clock = faultClock();
        const seen: Outcome[] = [];
        let sends = 0;
        const channel: ChannelPlugin = {
          id: 'faulty',
          capabilities: { deduplicatesSends: true } as ChannelPlugin['capabilities'],
          accounts: ['default'],
          resendPolicy: { ambiguous: 'resend', maxAttempts: 3, maxWaitMs: 200 },
          startAccount: async () => undefined,
          stopIntake: async () => undefined,
          stopAccount: async () => undefined,
          decodeIngress: () => ({ kind: 'ignored', reason: 'nothing comes here' }),
          send: (permit) => {
            const answer =
              answers[given.answers[sends++ % given.answers.length] ?? 'sent'] ?? hangs;
            return answer(() => void permit.take());
          },
        };
        const host = createHost({
          agents: [{ id: 'main', provider: echoProvider() }],
          channels: [channel],
          clock,
          kernel: { clock, tap: { outcome: (outcome) => seen.push(outcome) } },
        });
        await host.start();
        const kernel = host.kernel as unknown as LabKernel; // some of these do not compile, on purpose
        for (const [i, one] of given.handlers.entries()) {
          const name = one.family === 'egress.preparing' ? one.class : 'observer';
          const contribution: LabContribution = {
            family: one.family,
            class: name,
            extensionId: 'faulty',
            id: `h${i}`,
            handler: () => acts[one.act]?.(),
            ...(name === 'veto' && { failClosed: one.failClosed }),
          };
          kernel.contribute(contribution);
        }
        const controller = new AbortController();
        const messages = ['one', 'two', 'three'];
        const reports: string[] = [];
        for (const content of messages)
          void host
            .send({
              to: 'ada',
              content,
              ...(given.ownSignal && { signal: controller.signal }),
              ...(given.explicit && { channel: 'faulty', accountId: 'default' }),
            })
            .then(
              ({ status }) => reports.push(status),
              (error: unknown) => reports.push(`rejected: ${String(error)}`),
            );
        let passedMs = 0;
        const stopping: Promise<unknown>[] = [];
        const pass = async (ms: number): Promise<void> => {
          clock.advance(ms);
          passedMs += ms;
          if (given.abortAfterMs !== null && passedMs >= given.abortAfterMs) controller.abort();
          if (given.stopAfterMs !== null && passedMs >= given.stopAfterMs && stopping.length === 0)
            stopping.push(host.stop());
          await settleAll();
        };
        for (let i = 0; i < 120 && reports.length < messages.length; i++)
          await pass(i === 0 ? 0 : 10_000);

        const ended = seen.filter(({ event }) => terminal.includes(event.family));
        const prepared = seen.filter(({ event }) => event.family === 'egress.preparing');
        expect(reports, 'every send has ended').toHaveLength(messages.length);
        for (const { event } of prepared) {
          const own = ended.filter(
            (outcome) => outcome.event.correlationId === event.correlationId,
          );
          expect(own.map((outcome) => outcome.event.family)).toHaveLength(1);
        }
        expect(ended).toHaveLength(prepared.length);
        const said = ended.map(({ event }) => event.family.replace('egress.', ''));
        expect([...said].sort()).toEqual([...reports].sort());
        stopping.push(host.stop());
        for (let i = 0; i < 3; i++) await pass(60_000);
      }),
      { numRuns: 150 },
    );
  });
});
