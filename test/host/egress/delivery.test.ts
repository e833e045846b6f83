import { describe, expect, it } from 'vitest';
import { select } from '../../../src/kernel/internal.js';
import type { SendResult } from '../../../src/sdk/channel/index.js';
import { type HostLabOptions, hostLab } from '../../support/host-lab.js';
import {
  type ScriptedChannel,
  type ScriptedChannelOptions,
  scriptedChannel,
} from '../../support/scripted-channel.js';

const sent: SendResult = { status: 'sent', receipt: { messageId: 'x' } };
const ambiguous: SendResult = { status: 'ambiguous', reason: 'connection lost' };
const later: SendResult = { status: 'retry-after', retryAfterMs: 5_000 };

/** A channel that answers each attempt with the next of these. */
function answering(results: readonly SendResult[], options: ScriptedChannelOptions = {}) {
  const keys: string[] = [];
  const channel = scriptedChannel({
    ...options,
    send: async (permit) => {
      permit.take();
      keys.push(`${permit.idempotencyKey}#${permit.attempt}`);
      return results[keys.length - 1] ?? sent;
    },
  });
  return { channel, keys };
}

async function labOf(channel: ReturnType<typeof scriptedChannel>, options: HostLabOptions = {}) {
  return hostLab({ channel, ...options });
}

describe('a send', () => {
  it('that is refused for good fails', async () => {
    const { channel, keys } = answering([{ status: 'rejected', reason: 'blocked by the user' }]);
    await using lab = await labOf(channel);
    await lab.say('hello');
    expect(keys).toHaveLength(1);
    expect(lab.of('egress.failed')[0]?.payload).toMatchObject({
      cause: 'rejected',
      error: 'blocked by the user',
      attempts: 1,
    });
  });

  it('that is refused for now goes out again when the provider says, under the same key', async () => {
    const { channel, keys } = answering([later]);
    await using lab = await labOf(channel);
    const said = lab.say('hello');
    await lab.clock.advance(4_999);
    expect(keys).toHaveLength(1);
    await lab.clock.advance(1);
    expect((await said).sends).toMatchObject([{ status: 'sent', attempts: 2 }]);
    expect(keys.map((key) => key.split('#')[1])).toEqual(['1', '2']);
    expect(new Set(keys.map((key) => key.split('#')[0])).size).toBe(1);
    expect(lab.of('egress.sending').map(({ payload }) => payload.attempt)).toEqual([1, 2]);
    expect(lab.of('egress.sent')).toHaveLength(1);
  });

  it('is given up after as many attempts, and as much waiting, as its channel declares', async () => {
    const twice = answering([later, later, later], { resendPolicy: { maxAttempts: 2 } });
    await using lab = await labOf(twice.channel);
    const said = lab.say('hello');
    await lab.clock.advance(60_000);
    expect((await said).sends).toMatchObject([{ status: 'failed', attempts: 2 }]);
    const patient = answering([later, later], { resendPolicy: { maxWaitMs: 6_000 } });
    await using other = await labOf(patient.channel);
    const again = other.say('hello');
    await other.clock.advance(60_000);
    expect((await again).sends).toMatchObject([{ status: 'failed', attempts: 2 }]);
    expect(other.of('egress.failed')[0]?.payload).toMatchObject({
      cause: 'retry-after',
      retryAfterMs: 5_000,
    });
  });

  it('of which nobody knows the end is never resent blindly', async () => {
    const { channel, keys } = answering([ambiguous]);
    await using lab = await labOf(channel);
    await lab.say('hello');
    expect(keys).toHaveLength(1);
    expect(lab.of('egress.failed')[0]?.payload).toMatchObject({ cause: 'ambiguous' });
  });

  it('of which nobody knows the end goes out again where its provider drops duplicates', async () => {
    const policy = { resendPolicy: { ambiguous: 'resend' as const } };
    const knows = answering([ambiguous], { ...policy, deduplicatesSends: true });
    await using lab = await labOf(knows.channel);
    expect((await lab.say('hello')).sends).toMatchObject([{ status: 'sent', attempts: 2 }]);
    const doesNot = answering([ambiguous], policy);
    await using other = await labOf(doesNot.channel);
    expect((await other.say('hello')).sends).toMatchObject([{ status: 'failed', attempts: 1 }]);
  });

  it('of which nobody knows the end waits for the operator, where its channel says so', async () => {
    const policy = { resendPolicy: { ambiguous: 'ask' as const } };
    const asked: unknown[] = [];
    const { channel } = answering([ambiguous], policy);
    await using lab = await labOf(channel, {
      onAmbiguousSend: async (send) => {
        asked.push(send);
        return 'resend';
      },
    });
    expect((await lab.say('hello')).sends).toMatchObject([{ status: 'sent', attempts: 2 }]);
    expect(asked).toMatchObject([{ channel: 'scripted', attempt: 1, reason: 'connection lost' }]);
    await using nobody = await labOf(answering([ambiguous], policy).channel);
    expect((await nobody.say('hello')).sends).toMatchObject([{ status: 'failed' }]);
  });

  it('that throws is not repeated', async () => {
    const channel = scriptedChannel({
      send: async (permit) => {
        permit.take();
        throw new Error('socket hang up');
      },
    });
    await using lab = await labOf(channel);
    await lab.say('hello');
    expect(lab.of('egress.failed')[0]?.payload).toMatchObject({ cause: 'threw', attempts: 1 });
  });

  it('that hangs is ambiguous when its time is up', async () => {
    const channel = scriptedChannel({
      send: async (permit) => {
        permit.take();
        return new Promise(() => undefined);
      },
    });
    await using lab = await labOf(channel, { budgets: { sendTimeoutMs: 1_000 } });
    const said = lab.say('hello');
    await lab.clock.advance(1_000);
    expect((await said).sends).toMatchObject([{ status: 'failed' }]);
    expect(lab.of('egress.failed')[0]?.payload).toMatchObject({ cause: 'ambiguous' });
  });

  it('cannot be made with a permit whose time was up', async () => {
    let late: unknown;
    const channel = scriptedChannel({
      send: async (permit) => {
        await new Promise<void>((resolve) => lab.clock.setTimeout(() => resolve(), 2_000));
        try {
          permit.take();
        } catch (error) {
          late = error;
        }
        return sent;
      },
    });
    const lab = await labOf(channel, { budgets: { sendTimeoutMs: 1_000 } });
    const said = lab.say('hello');
    await lab.clock.advance(3_000);
    expect((await said).status).toBe('failed');
    expect(late).toMatchObject({ code: 'permit-used' });
    await lab[Symbol.asyncDispose]();
  });

  it('that its channel claims without taking the permit has failed', async () => {
    const channel = scriptedChannel({ send: async () => sent });
    await using lab = await labOf(channel);
    await lab.say('hello');
    expect(lab.of('egress.sent')).toEqual([]);
    expect(lab.of('egress.failed')[0]?.payload.error).toMatch(/took no message from its permit/);
  });

  it('with a receipt that cannot be read was sent all the same', async () => {
    const wrong = { status: 'sent', receipt: { messageId: 7 } } as unknown as SendResult; // as a careless channel gives it
    const { channel } = answering([wrong]);
    await using lab = await labOf(channel);
    expect((await lab.say('hello')).status).toBe('answered');
    expect(lab.of('egress.sent')[0]?.payload.receipt).toEqual({});
    expect(lab.log.messages('error')[0]).toMatch(/gave a wrong receipt/);
  });

  it('to an account that is not running is no valid choice: the origin is left', async () => {
    await using lab = await hostLab({
      contribute: (kernel) =>
        kernel.contribute({
          family: 'egress.preparing',
          class: 'resolver',
          extensionId: 'test',
          id: 'nowhere',
          handler: () => select({ channel: 'pager', accountId: 'gone' }, { explicit: true }),
        }),
    });
    await lab.say('hello');
    expect(lab.of('egress.sent')[0]?.payload).toMatchObject({ channel: 'scripted' });
    expect(lab.of('egress.preparing')[0]?.candidates[1]).toMatchObject({
      invalid: 'no account "gone" of channel "pager" is running',
    });
  });

  it('without anywhere to go fails, closed', async () => {
    await using lab = await hostLab();
    const report = await lab.host.send({ to: 'someone', content: 'ping' });
    expect(report).toMatchObject({ status: 'failed' });
    expect(lab.of('egress.failed')[0]?.payload).toMatchObject({ cause: 'stage-failed' });
    const named = { channel: 'pager', accountId: 'gone', to: 'someone', content: 'ping' };
    expect(await lab.host.send(named)).toMatchObject({
      status: 'failed',
      error: 'no account "gone" of channel "pager" is running',
    });
  });
});

describe('the signal of a send (§14.17)', () => {
  /** A channel that says, for each send, whether its signal has aborted. */
  const heeding = (send: (signal: AbortSignal) => Promise<SendResult>) => {
    const signals: AbortSignal[] = [];
    const channel: ScriptedChannel = {
      ...scriptedChannel(),
      send: async (permit, { signal }) => {
        permit.take();
        signals.push(signal);
        return send(signal);
      },
    };
    return { channel, aborted: () => signals.map(({ aborted }) => aborted) };
  };
  const never = () => new Promise<never>(() => undefined);

  it('aborts when its time is up', async () => {
    const { channel, aborted } = heeding(never);
    await using lab = await hostLab({ channel, budgets: { sendTimeoutMs: 1_000 } });
    const ending = lab.say('hello');
    await lab.clock.advance(999);
    expect(aborted()).toEqual([false]);
    await lab.clock.advance(1);
    expect(await ending).toMatchObject({ status: 'failed' });
    expect(aborted()).toEqual([true]);
  });

  it('aborts when the host stops', async () => {
    const { channel, aborted } = heeding(never);
    const lab = await hostLab({ channel });
    void lab.say('hello');
    await lab.clock.advance(100);
    expect(aborted()).toEqual([false]);
    await lab[Symbol.asyncDispose]();
    expect(aborted()).toEqual([true]);
  });

  it('does not abort when the channel has answered', async () => {
    const { channel, aborted } = heeding(async () => ({ status: 'sent', receipt: {} }));
    const lab = await hostLab({ channel });
    await lab.say('hello');
    await lab[Symbol.asyncDispose]();
    expect(aborted()).toEqual([false]);
  });
});
