import {
  approveSend,
  type ChannelInbox,
  type ChannelPlugin,
  type InboundUpdate,
  type SendApproval,
  type SendContext,
  type SendResult,
} from '@sluice/sdk/channel';
import { deferred, type PayloadOf, systemClock } from 'sluice-kernel/internal';
import { samplePayload } from '../samples.js';
import { createTestKernel } from '../test-kernel.js';
import { within } from './check.js';

/** A channel with the provider behind it, as a conformance kit needs them. Each check asks for a new one. */
export interface ChannelUnderTest extends Partial<AsyncDisposable> {
  readonly channel: ChannelPlugin;
  /** The address of a chat that the provider has, as the channel writes it. */
  readonly to: string;
  /** Has a person write a text at the provider. The same `updateId` stands for the same update, brought again. */
  deliver(text: string, updateId: string): Promise<unknown> | unknown;
  /** The texts that people see at the provider, in order. */
  shown(): readonly string[] | Promise<readonly string[]>;
  /** Makes the provider answer the next send so, if it can; without it the checks of failed sends are left out. */
  readonly failNext?: (how: 'ambiguous' | 'rejected' | 'retry-after') => void;
  /** Lets time pass that the subject waits for; a subject on the real clock needs none. */
  readonly settle?: () => Promise<unknown>;
}

/** The options of `channelConformance`. */
export interface ChannelConformanceOptions {
  /** Milliseconds of the real clock that a step may take before it counts as hung; 5 000 by default. */
  readonly timeoutMs?: number;
  /** A check that is left out, because the subject lacks what it needs, is broken. Set it for what you publish. */
  readonly complete?: boolean;
}

/** A channel whose first account runs, in the hands of a check. */
export interface RunningChannel extends ChannelUnderTest {
  readonly accountId: string;
  /** The updates that the channel has handed over, in order. */
  readonly updates: readonly InboundUpdate[];
  /** Answers each call of `receive` in place of the host. */
  answer: ChannelInbox['receive'];
  /** Starts the account. */
  start(): Promise<void>;
  /** Waits until so many updates have come, and no longer than `limitMs`. */
  arrived(count: number, limitMs?: number): Promise<void>;
  step<T>(name: string, work: () => Promise<T>): Promise<T>;
  send(permit: ReturnType<SendApproval['mintPermit']>): Promise<SendResult>;
  approve(message?: Partial<PayloadOf<'egress.preparing'>>): Promise<SendApproval>;
}

/** The context of a send that its host waits for. */
export const notAborted: SendContext = { signal: new AbortController().signal };

/** Puts a subject into the hands of a check. */
export function runningChannel(
  made: ChannelUnderTest,
  timeoutMs: number,
): RunningChannel & AsyncDisposable {
  const { kernel } = createTestKernel();
  const { channel } = made;
  const accountId = channel.accounts[0] ?? '';
  const updates: InboundUpdate[] = [];
  let isStarted = false;
  /** Answers each `receive` that a check has left open, so that the channel can end. */
  const released = deferred<undefined>();
  const step = <T>(name: string, work: () => Promise<T>): Promise<T> =>
    within(name, timeoutMs, async () => {
      const settled = Promise.resolve(work());
      settled.catch(() => undefined); // it may reject before time has passed
      await made.settle?.();
      return settled;
    });
  const subject: RunningChannel & AsyncDisposable = {
    ...made,
    accountId,
    updates,
    answer: async () => undefined,
    step,
    start: () => {
      isStarted = true;
      return step('startAccount', () =>
        channel.startAccount(accountId, {
          receive: (update) => {
            updates.push(update);
            return Promise.race([subject.answer(update), released.promise]);
          },
          owns: () => true,
          ended: () => undefined,
        }),
      );
    },
    arrived: async (count, limitMs = timeoutMs) => {
      const end = systemClock.monotonicMs() + limitMs;
      while (updates.length < count && systemClock.monotonicMs() < end) {
        await made.settle?.();
        await new Promise<void>((resolve) => systemClock.setTimeout(resolve, 5));
      }
    },
    deliver: (text, updateId) => step('deliver', async () => made.deliver(text, updateId)),
    send: (permit) => step('send', () => channel.send(permit, notAborted)),
    approve: async (message) =>
      approveSend(
        await kernel.dispatch('egress.preparing', {
          ...samplePayload('egress.preparing'),
          ...{ channel: channel.id, accountId, to: made.to, explicit: true },
          ...{ content: 'Hello.', attachments: [], interactive: {}, streaming: false },
          ...message,
        }),
      ),
    [Symbol.asyncDispose]: async () => {
      released.resolve(undefined);
      const stop = async (): Promise<void> => {
        await step('stopIntake', () => channel.stopIntake(accountId));
        await step('stopAccount', () => channel.stopAccount(accountId));
      };
      if (isStarted) await stop().catch(() => undefined); // a check of its own tells of it
      await made[Symbol.asyncDispose]?.();
    },
  };
  return subject;
}
