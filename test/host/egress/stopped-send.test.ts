import { describe, expect, it } from 'vitest';
import { type Journal, memoryJournal } from '../../../src/journal/index.js';
import { actingLab } from '../../support/acting-lab.js';
import { hostLab } from '../../support/host-lab.js';
import { mortalJournal } from '../../support/mortal-journal.js';
import { type ScriptedChannel, scriptedChannel } from '../../support/scripted-channel.js';

it('a reply that is being kept when its host may wait no longer is said by the next host (durability §7.4)', async () => {
  const memory = memoryJournal();
  let keep = (): void => undefined;
  const slow = new Promise<void>((resolve) => {
    keep = resolve;
  });
  const journal: Journal = {
    ...mortalJournal(memory),
    prepare: async (send, isSending) => {
      await memory.prepare(send, isSending);
      await slow;
    },
  };
  {
    await using lab = await hostLab({ journal });
    void lab.channel.receive({ text: 'hello', conversation: 'one' }, 'u-1');
    await lab.clock.advance(100);
    const stopping = lab.host.stop({ timeoutMs: 10 });
    await lab.clock.advance(1_000);
    keep();
    await lab.clock.advance(10_000);
    await stopping;
    expect(lab.texts()).toEqual([]);
  }
  await using next = await hostLab({ journal: mortalJournal(memory) });
  await next.clock.advance(1_000);
  expect(next.texts()).toEqual(['hello']);
});

it('a message of an extension whose host stops while the provider asks to wait goes out by the next host, once (extensions-that-act §4.5)', async () => {
  const journal = memoryJournal();
  const channel = scriptedChannel({ resendPolicy: { maxWaitMs: 600_000 } });
  channel.next({ status: 'retry-after', retryAfterMs: 300_000 });
  const tea = { channel: 'scripted', to: 'scripted:ada', content: 'Tea!', key: 'tea' };
  {
    await using lab = await actingLab({ journal, channel });
    const { ended } = await lab.api.send(tea);
    await lab.clock.advance(100);
    const stopping = lab.host.stop({ timeoutMs: 10 });
    await lab.clock.advance(10_000);
    await stopping;
    expect(await ended).toMatchObject({ status: 'failed', isLeft: true });
  }
  await using next = await actingLab({ journal });
  await next.clock.advance(1_000);
  expect(next.texts()).toEqual(['Tea!']);
  expect(await (await next.api.send(tea)).ended).toMatchObject({ status: 'sent' });
  expect(next.texts()).toEqual(['Tea!']);
});

it('a message of an extension that may be out is left to the next host if its host stops while it is sent again (extensions-that-act §4.5, durability §7.2)', async () => {
  const memory = memoryJournal();
  const policy = {
    resendPolicy: { ambiguous: 'resend', maxWaitMs: 600_000, maxAttempts: 5 },
    deduplicatesSends: true,
  } as const;
  const mortal = mortalJournal(memory);
  const hanging = scriptedChannel({ ...policy, send: () => new Promise(() => undefined) });
  const first = await actingLab({ journal: mortal, channel: hanging });
  void first.api.send({ channel: 'scripted', to: 'scripted:ada', content: 'Tea!', key: 'tea' });
  await first.clock.advance(100);
  mortal.kill();
  expect(await memory.sends()).toMatchObject([{ state: 'sending' }]);
  const channel = scriptedChannel(policy);
  channel.next({ status: 'retry-after', retryAfterMs: 300_000 });
  {
    await using lab = await actingLab({ journal: mortalJournal(memory), channel });
    await lab.clock.advance(100);
    const stopping = lab.host.stop({ timeoutMs: 10 });
    await lab.clock.advance(10_000);
    await stopping;
  }
  await using next = await actingLab({
    journal: mortalJournal(memory),
    channel: scriptedChannel(policy),
  });
  await next.clock.advance(1_000);
  expect(next.texts()).toEqual(['Tea!']);
});

describe('a reply whose host stops before its channel has taken it', () => {
  /** Says hello, stops the host once its channel has been asked, and gives the replies of the next host. */
  const saidAfter = async (channel: ScriptedChannel): Promise<readonly string[]> => {
    const memory = memoryJournal();
    {
      await using lab = await hostLab({ journal: mortalJournal(memory), channel });
      void lab.channel.receive({ text: 'hello', conversation: 'one' }, 'u-1');
      await lab.clock.advance(100);
      expect(lab.of('egress.sending')).toHaveLength(1);
      const stopping = lab.host.stop({ timeoutMs: 10 });
      await lab.clock.advance(10_000);
      await stopping;
    }
    await using next = await hostLab({ journal: mortalJournal(memory) });
    await next.clock.advance(1_000);
    return next.texts();
  };

  it('is said by the next host if the provider had asked to wait (durability §7.4)', async () => {
    const channel = scriptedChannel({ resendPolicy: { maxWaitMs: 600_000 } });
    channel.next({ status: 'retry-after', retryAfterMs: 300_000 });
    expect(await saidAfter(channel)).toEqual(['hello']);
  });

  it('is said by the next host if the channel had not taken the message from its permit (durability §7.4)', async () => {
    const channel = scriptedChannel({ send: () => new Promise(() => undefined) });
    expect(await saidAfter(channel)).toEqual(['hello']);
  });

  it('is not said again if the channel had taken it (durability §7.4)', async () => {
    const taken = scriptedChannel({
      send: (permit) => {
        permit.take();
        return new Promise(() => undefined);
      },
    });
    expect(await saidAfter(taken)).toEqual([]);
  });

  it('is not said again if it may be out from an attempt before (durability §7.4)', async () => {
    const resendPolicy = { ambiguous: 'resend', maxWaitMs: 600_000 } as const;
    const channel = scriptedChannel({ deduplicatesSends: true, resendPolicy });
    channel.next('lost', { status: 'retry-after', retryAfterMs: 300_000 });
    const memory = memoryJournal();
    {
      await using lab = await hostLab({ journal: mortalJournal(memory), channel });
      void lab.channel.receive({ text: 'hello', conversation: 'one' }, 'u-1');
      await lab.clock.advance(100);
      const stopping = lab.host.stop({ timeoutMs: 10 });
      await lab.clock.advance(10_000);
      await stopping;
    }
    await using next = await hostLab({ journal: mortalJournal(memory) });
    await next.clock.advance(1_000);
    expect(next.texts()).toEqual([]);
  });
});
