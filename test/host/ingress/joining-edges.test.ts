import { describe, expect, it } from 'vitest';
import { type Journal, memoryJournal } from '../../../src/journal/index.js';
import type { DecodedIngress } from '../../../src/sdk/channel/index.js';
import { defineExtension } from '../../../src/sdk/extension/index.js';
import { virtualClock } from '../../../src/testing/index.js';
import { batchLab, turns, withinMs } from '../../support/batch-lab.js';
import { mortalJournal } from '../../support/mortal-journal.js';
import { type Said, scriptedChannel } from '../../support/scripted-channel.js';

/** A channel whose messages name no id of their sender. */
function anonymousChannel(isGroup: boolean) {
  return scriptedChannel({
    decode: (raw): DecodedIngress | undefined => {
      const decoded = scriptedChannel().decodeIngress(raw, 'default');
      if (decoded.kind !== 'message') return undefined;
      const { sender, ...message } = decoded.message;
      const name = (raw as Said).from;
      return {
        kind: 'message',
        message: {
          ...message,
          ...(name !== undefined && { sender: { name } }),
          from: 'scripted:room',
          conversationId: 'scripted:room',
          isGroup,
        },
      };
    },
  });
}

describe('messages whose sender has no id', () => {
  it('join none in a group, where the address is that of the group (durability §10.2)', async () => {
    await using lab = await batchLab({ channel: anonymousChannel(true) });
    await lab.tell('one');
    await lab.tell('two');
    await lab.pass(withinMs);
    await lab.pass(withinMs);
    expect(lab.prompts).toEqual(['one', 'two']);
  });

  it('join each other in a conversation of two, which has one sender (durability §10.2)', async () => {
    await using lab = await batchLab({ channel: anonymousChannel(false) });
    await lab.tell('one');
    await lab.tell('two');
    await lab.pass(withinMs);
    expect(lab.prompts).toEqual(['one\n\ntwo']);
  });
});

it('keeps no reload waiting, and begins behind it, if it waits for a place of the host (durability §10.4)', async () => {
  const releases: (() => void)[] = [];
  const extension = defineExtension({ id: 'acme', setup: () => undefined });
  await using lab = await batchLab({
    lanes: { maxRunning: 1 },
    extensions: [{ extension }],
    answer: () => new Promise((resolve) => releases.push(() => resolve('done'))),
  });
  await lab.tell({ text: 'long', conversation: 'scripted:bob', from: 'bob' });
  await lab.pass(500);
  await lab.tell('one');
  await lab.pass(withinMs); // it waits for the place of the long one
  expect(lab.prompts).toEqual(['long']);
  let result: unknown;
  void lab.host.reload('acme').then((done) => (result = done));
  await turns();
  releases.shift()?.();
  await turns();
  expect(result).toMatchObject([{ result: 'reloaded' }]);
  await lab.pass(0);
  expect(lab.prompts).toEqual(['long', 'one']);
  releases.shift()?.();
  await lab.pass(0);
});

it.each(['known', 'lost'] as const)(
  'begins when the write that it waits for shows that the update is %s (durability §10.3)',
  async (end) => {
    const clock = virtualClock();
    const journal = memoryJournal({ clock });
    let release: (() => void) | undefined;
    let isSlow = false;
    const slow: Journal = {
      ...journal,
      accept: async (update, isBegun) => {
        if (isSlow) {
          await new Promise<void>((resolve) => (release = resolve));
          if (end === 'lost') throw new Error('the disk is full');
        }
        return journal.accept(update, isBegun);
      },
    };
    await using lab = await batchLab({ clock, journal: slow });
    await lab.tell('one');
    await lab.tell('two');
    isSlow = true;
    await lab.tell(end === 'known' ? 'two' : 'three');
    await lab.pass(withinMs);
    expect(lab.prompts).toEqual([]);
    release?.();
    await lab.pass(0);
    expect(lab.prompts).toEqual(['one\n\ntwo']);
  },
);

it('waits no longer than ten times its time if the time of day steps back (durability §10.3)', async () => {
  const clock = virtualClock();
  let backMs = 0;
  const now = clock.now.bind(clock);
  await using lab = await batchLab({
    clock: Object.assign(clock, { now: () => now() - backMs }),
  });
  await lab.tell('one');
  backMs = 3_600_000;
  await lab.tell('two');
  for (let at = 0; at < 10; at++) await lab.pass(withinMs);
  expect(lab.prompts).toEqual(['one\n\ntwo']);
});

it('begins what waits when a host without a journal stops (durability §10.4)', async () => {
  const lab = await batchLab();
  await lab.tell('one');
  await lab.tell('two');
  const stopping = lab.host.stop({ timeoutMs: 60_000 });
  await turns();
  expect(lab.prompts).toEqual(['one\n\ntwo']);
  expect((await stopping).drained).toBe(true);
  expect(lab.endings()).toEqual(['u-one: answered', 'u-two: joined']);
});

it.each([
  ['begin', 1],
  ['endUpdate', 1],
  ['endUpdate', 2],
  ['endUpdate', 3],
] as const)(
  'answers each once, and ends each, if the write "%s" fails at call %i (durability §10.5, durability §10.7)',
  async (kind, at) => {
    const clock = virtualClock();
    const journal = memoryJournal({ clock });
    const failing = mortalJournal(journal, (write, nth) =>
      write === kind && nth === at ? new Error('the disk is full') : undefined,
    );
    await using lab = await batchLab({ clock, journal: failing });
    for (const text of ['one', 'two', 'three']) await lab.tell(text);
    for (let pass = 0; pass < 30; pass++) await lab.pass(withinMs);
    await lab.tell('four');
    for (let pass = 0; pass < 30; pass++) await lab.pass(withinMs);
    expect(lab.prompts).toEqual(['one\n\ntwo\n\nthree', 'four']);
    expect(lab.texts()).toHaveLength(2);
    const all = await journal.updates();
    expect(all.map(({ updateId, outcome }) => `${updateId}: ${outcome}`)).toEqual([
      'u-one: answered',
      'u-two: joined',
      'u-three: joined',
      'u-four: answered',
    ]);
  },
);

it('joins none that was refused, since its sender was told so (durability §8.2, durability §10.2)', async () => {
  await using lab = await batchLab({ lanes: { capacity: 2 } });
  for (const text of ['one', 'two', 'three', 'four']) await lab.tell(text);
  await lab.pass(withinMs);
  expect(lab.prompts).toEqual(['one\n\ntwo']);
  expect([...lab.endings()].toSorted()).toEqual([
    'u-four: failed',
    'u-one: answered',
    'u-three: failed',
    'u-two: joined',
  ]);
});
