import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../src/agent/index.js';
import { type Journal, memoryJournal } from '../../src/journal/index.js';
import type { AgentProvider } from '../../src/sdk/stream/index.js';
import { hostLab } from '../support/host-lab.js';
import { type ScriptedChannel, scriptedChannel } from '../support/scripted-channel.js';

/** An agent that echoes one prompt after the other, each when the test says so. */
function heldEcho() {
  const echo = echoProvider();
  const waiting: (() => void)[] = [];
  const provider: AgentProvider = {
    ...echo,
    async *run(request) {
      await new Promise<void>((resolve) => waiting.push(resolve));
      yield* echo.run(request);
    },
  };
  return { agents: [{ id: 'main', provider }], next: () => waiting.shift()?.() };
}

const journals: readonly (readonly [string, () => { readonly journal?: Journal }])[] = [
  ['without a journal', () => ({})],
  ['with a journal', () => ({ journal: memoryJournal() })],
];

describe('an update that waits for the one before it', () => {
  it.each(journals)(
    'is dispatched when it is begun, with the time of its receipt, %s (durability §6.1)',
    async (_name, kept) => {
      const { agents, next } = heldEcho();
      await using lab = await hostLab({ ...kept(), agents });
      const receivedAt = (): readonly unknown[] =>
        lab.of('ingress.received').map(({ payload }) => payload.receivedAtMs);
      const at = lab.clock.now();
      await lab.channel.receive({ text: 'one' }, '1');
      await lab.channel.receive({ text: 'two' }, '2');
      await lab.clock.advance(5_000);
      expect(receivedAt()).toEqual([at]);
      next();
      await lab.clock.advance(0);
      expect(receivedAt()).toEqual([at, at]);
      next();
      await lab.clock.advance(0);
      expect(lab.texts()).toEqual(['one', 'two']);
    },
  );
});

/** A channel that hands over one more update while its account is stopped. */
function lateChannel(): ScriptedChannel {
  const channel = scriptedChannel();
  const late = async (accountId: string): Promise<void> => {
    await channel.receive({ text: 'late' }, 'late', accountId);
  };
  return { ...channel, stopAccount: late };
}

describe('a journal that outlives its host', () => {
  it('leaves an update to the next host that comes when the work of this one has ended (durability §6.3)', async () => {
    const journal = memoryJournal();
    const channel = lateChannel();
    const lab = await hostLab({ journal, channel });
    channel.end(); // the host stops by itself, and waits for all work
    await lab.clock.advance(0);
    expect(await lab.host.stopped).toMatchObject({ drained: true });
    await lab.clock.advance(0);
    expect(await journal.updates()).toMatchObject([{ updateId: 'late', state: 'accepted' }]);
    expect(lab.families()).not.toContain('ingress.received');
  });
});

describe('a journal that does not outlive its host', () => {
  it('keeps which updates have not ended, and neither bodies nor sends (durability §6.8)', async () => {
    const { agents, next } = heldEcho();
    const journal = memoryJournal({ acknowledge: 'ended' });
    await using lab = await hostLab({ journal, agents });
    await lab.channel.receive({ text: 'one' }, '1');
    await lab.channel.receive({ text: 'two' }, '2');
    await lab.clock.advance(0);
    const open = await journal.updates();
    expect(open.map(({ updateId, state, body }) => [updateId, state, body])).toEqual([
      ['1', 'handling', undefined],
      ['2', 'accepted', undefined],
    ]);
    expect(lab.channel.acknowledged).toEqual([]);
    next();
    await lab.clock.advance(0);
    expect((await journal.updates()).map(({ updateId }) => updateId)).toEqual(['2']);
    expect(lab.channel.acknowledged.map(({ updateId }) => updateId)).toEqual(['1']);
    next();
    await lab.clock.advance(0);
    expect(lab.texts()).toEqual(['one', 'two']);
    expect([...(await journal.updates()), ...(await journal.sends())]).toEqual([]);
    expect(lab.host.stats()).toMatchObject({ received: 2, deadLetters: 0 });
  });

  it('has an update that comes again meanwhile handled once, and acknowledged at its end (durability §6.8)', async () => {
    const { agents, next } = heldEcho();
    await using lab = await hostLab({ agents });
    await lab.channel.receive({ text: 'hi' }, '1');
    await lab.channel.receive({ text: 'hi' }, '1');
    await lab.clock.advance(0);
    expect(lab.channel.acknowledged).toEqual([]);
    next();
    await lab.clock.advance(0);
    expect(lab.texts()).toEqual(['hi']);
    expect(lab.channel.acknowledged).toHaveLength(1);
    expect(lab.host.stats()).toMatchObject({ received: 2, duplicates: 1 });
  });

  it('leaves nothing to a later host: a stop in good order handles what waits (durability §6.8)', async () => {
    const { agents, next } = heldEcho();
    const lab = await hostLab({ agents });
    await lab.channel.receive({ text: 'one' }, '1');
    await lab.channel.receive({ text: 'two' }, '2');
    await lab.clock.advance(0);
    const stopping = lab.host.stop({ timeoutMs: 5_000 });
    for (let at = 0; at < 2; at++) {
      next();
      await lab.clock.advance(0);
    }
    expect(await stopping).toMatchObject({ drained: true, abandoned: 0 });
    expect(lab.texts()).toEqual(['one', 'two']);
    expect(lab.channel.acknowledged).toHaveLength(2);
  });

  it('does not acknowledge an update that comes when the work of its host has ended (durability §6.8)', async () => {
    const channel = lateChannel();
    const lab = await hostLab({ channel });
    const stopping = lab.host.stop({ timeoutMs: 5_000 });
    await lab.clock.advance(0);
    expect(await stopping).toMatchObject({ drained: true });
    await lab.clock.advance(0);
    expect(lab.ends.map(({ updateId, status }) => [updateId, status])).toEqual([
      ['late', 'aborted'],
    ]);
    expect(channel.acknowledged).toEqual([]);
    expect(lab.families()).not.toContain('ingress.received');
  });

  it('does not block a send whose payload no journal could keep (durability §6.8)', async () => {
    await using lab = await hostLab({});
    const metadata: Record<string, unknown> = { text: 'x'.repeat(17 * 1024 * 1024) };
    const sent = await lab.host.send({
      ...{ channel: 'scripted', accountId: 'default', to: 'ada', content: 'hi', metadata },
    });
    expect(sent).toMatchObject({ status: 'sent' });
  });
});
