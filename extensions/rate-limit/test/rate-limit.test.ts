import { defineExtension, select } from 'sluice';
import { memoryJournal, memoryStore } from 'sluice/host';
import {
  expectCancelled,
  expectDenied,
  expectFailed,
  expectPassed,
  expectReply,
  loadForTest,
  startTestHost,
  type TestHost,
  virtualClock,
} from 'sluice/testing';
import { describe, expect, it, vi } from 'vitest';
import rateLimit from '../src/index.js';
import { type Arriving, arrivalOf } from './rate-lab.js';

const minute = { count: 2, windowMs: 60_000 };

async function rateLab(config: object) {
  const test = await loadForTest(rateLimit, { config });
  return {
    ...test,
    arrive: (arriving: Arriving) => test.dispatch('routing.resolving', ...arrivalOf(arriving)),
    [Symbol.asyncDispose]: () => test[Symbol.asyncDispose](),
  };
}
/** Says something in a host that another one follows: its updates have ids that the next host does not give. */
async function saidBefore(test: TestHost, texts: readonly string[]): Promise<void> {
  for (const text of texts) await test.channel.receive({ text }, `before-${text}`);
  await vi.waitFor(() => expect(test.replies()).toEqual(texts), 60_000);
}

const refused = { code: 'rate-limited', by: 'rate-limit/limit' } as const;

describe('the limit of a sender', () => {
  it('refuses his third message, tells programs when the next may come, and lets others in (judgement §6.5)', async () => {
    await using lab = await rateLab({ perPrincipal: minute });
    expectPassed(await lab.arrive({ sender: 'ann' }));
    expectPassed(await lab.arrive({ sender: 'ann' }));
    const { cancel } = expectCancelled(await lab.arrive({ sender: 'ann' }), refused);
    expect(cancel).toMatchObject({
      text: 'perPrincipal: at most 2 in 60000 ms; the next in 30000 ms',
      details: { limit: 'perPrincipal', ...minute, retryAfterMs: 30_000 },
      reply: 'Too many messages at once. Please wait a little.',
    });
    expectPassed(await lab.arrive({ sender: 'ben' }));
    await lab.clock.advance(30_000);
    expectPassed(await lab.arrive({ sender: 'ann' }));
    expectCancelled(await lab.arrive({ sender: 'ann' }), refused);
  });

  it('holds in all his conversations, and not for the same id on another channel (judgement §6.1)', async () => {
    await using lab = await rateLab({ perPrincipal: minute });
    expectPassed(await lab.arrive({ sender: '7', conversation: 'c-1' }));
    expectPassed(await lab.arrive({ sender: '7', conversation: 'c-2', accountId: 'work' }));
    expectCancelled(await lab.arrive({ sender: '7', conversation: 'c-3' }), refused);
    expectPassed(await lab.arrive({ sender: '7', channel: 'discord' }));
  });

  it('is shared by all of a conversation whom nobody has proven (judgement §6.1)', async () => {
    await using lab = await rateLab({ perPrincipal: minute });
    expectPassed(await lab.arrive({}));
    expectPassed(await lab.arrive({}));
    expectCancelled(await lab.arrive({}), refused);
    expectPassed(await lab.arrive({ conversation: 'c-2' }));
    expectPassed(await lab.arrive({ sender: 'c-1' }));
  });
});

describe('the limit of a conversation', () => {
  it('counts all who write there, by channel and account (judgement §6.1)', async () => {
    await using lab = await rateLab({ perConversation: minute });
    expectPassed(await lab.arrive({ sender: 'ann' }));
    expectPassed(await lab.arrive({}));
    expectCancelled(await lab.arrive({ sender: 'ben' }), refused);
    expectPassed(await lab.arrive({ sender: 'ben', conversation: 'c-2' }));
    expectPassed(await lab.arrive({ sender: 'ben', accountId: 'work' }));
    expectPassed(await lab.arrive({ sender: 'ben', channel: 'discord' }));
  });

  it('that refuses a message takes no token of its sender, and writes nothing (judgement §6.3)', async () => {
    await using lab = await rateLab({
      perPrincipal: minute,
      perConversation: { ...minute, count: 1 },
    });
    expectPassed(await lab.arrive({ sender: 'ben' }));
    const before = await lab.store.list();
    for (let tries = 0; tries < 5; tries++)
      expectCancelled(await lab.arrive({ sender: 'ann' }), refused);
    expect(await lab.store.list()).toEqual(before);
    expectPassed(await lab.arrive({ sender: 'ann', conversation: 'c-2' }));
    expectPassed(await lab.arrive({ sender: 'ann', conversation: 'c-3' }));
    expectCancelled(await lab.arrive({ sender: 'ann', conversation: 'c-4' }), refused);
  });
});

describe('a sender without a limit', () => {
  it.each([
    ['has a role that is exempt', ['staff'], { roles: ['staff'] }],
    ['owns the host', ['owner'], { isOwner: true }],
  ])('%s, and takes no token of his conversation (judgement §6.3)', async (_, exemptRoles, who) => {
    const one = { ...minute, count: 1 };
    await using lab = await rateLab({ perPrincipal: one, perConversation: one, exemptRoles });
    for (let times = 0; times < 3; times++)
      expectPassed(await lab.arrive({ sender: 'boss', ...who }));
    expect(await lab.store.list()).toEqual([]);
    expectPassed(await lab.arrive({ sender: 'ann' }));
    expectCancelled(await lab.arrive({ sender: 'ben' }), refused);
  });

  it('is not an owner unless the settings say so', async () => {
    await using lab = await rateLab({
      perPrincipal: { ...minute, count: 1 },
      exemptRoles: ['staff'],
    });
    expectPassed(await lab.arrive({ sender: 'boss', isOwner: true }));
    expectCancelled(await lab.arrive({ sender: 'boss', isOwner: true }), refused);
  });
});

describe('a message', () => {
  it('counts once if the veto judges it again (judgement §6.4)', async () => {
    const chooser = defineExtension({
      id: 'z-chooser', // after the veto, which therefore judges again
      setup: (api) => api.resolve('routing.resolving', 'main', () => select({ agentId: 'main' })),
    });
    const limit = { extension: rateLimit, config: { perPrincipal: minute } };
    await using test = await startTestHost({ extensions: [limit, chooser] });
    expectReply(await test.say('one'), 'one');
    expectReply(await test.say('two'), 'two');
    const passes = test.of('routing.resolving').flatMap(({ steps = [] }) => steps);
    expect(passes.some(({ recheck }) => recheck)).toBe(true);
    expectDenied(await test.say('three'), refused);
  });

  it('counts once if it is claimed again, however few there may be (judgement §6.4)', async () => {
    const one = { ...minute, count: 1 };
    await using lab = await rateLab({ perPrincipal: one, perConversation: one });
    for (let tries = 0; tries < 3; tries++)
      expectPassed(await lab.arrive({ sender: 'ann', messageId: 'm-1' }));
    expectCancelled(await lab.arrive({ sender: 'ann', messageId: 'm-2' }), refused);
  });

  it('is judged by its own time (judgement §6.2)', async () => {
    await using lab = await rateLab({ perPrincipal: { ...minute, count: 1 } });
    const [payload, given] = arrivalOf({ sender: 'ann' });
    const at = (occurredAt: number) =>
      lab.dispatch('routing.resolving', payload, { ...given, occurredAt });
    const then = Date.UTC(2025, 0, 1);
    expectPassed(await at(then));
    expectCancelled(await at(then + 59_999), refused);
    expectPassed(await at(then + 60_000));
  });
});

describe('the buckets', () => {
  it('outlive the host with its journal (judgement §6.6)', async () => {
    const clock = virtualClock();
    const kept = { clock, journal: memoryJournal({ clock }), store: memoryStore() };
    const options = {
      ...kept,
      extensions: [{ extension: rateLimit, config: { perConversation: minute } }],
    };
    {
      await using before = await startTestHost(options);
      await saidBefore(before, ['one', 'two']);
    }
    await using after = await startTestHost(options);
    expectDenied(await after.say('three'), refused);
    await clock.advance(60_000);
    expectReply(await after.say('four'), 'four');
  });

  it('are gone a minute after their window, so senders who are silent take no room (judgement §6.6)', async () => {
    await using lab = await rateLab({ perPrincipal: minute, perConversation: minute });
    for (let round = 0; round < 20; round++) {
      for (let at = 0; at < 10; at++)
        expectPassed(
          await lab.arrive({ sender: `s-${round}-${at}`, conversation: `c-${round}-${at}` }),
        );
      expect((await lab.store.list()).length).toBeLessThanOrEqual(20);
      await lab.clock.advance(120_000);
    }
    expect(await lab.store.list()).toEqual([]);
  });

  it('have short keys, whatever the ids are', async () => {
    await using lab = await rateLab({ perPrincipal: minute, perConversation: minute });
    const odd = `${'x'.repeat(2_000)}\n\ud800`;
    expectPassed(await lab.arrive({ sender: odd, conversation: odd }));
    expect(await lab.store.list()).toHaveLength(2);
  });

  it('begin full if their limit was changed (judgement §6.6)', async () => {
    const clock = virtualClock();
    const kept = { clock, journal: memoryJournal({ clock }), store: memoryStore() };
    const withCount = (count: number) => ({
      ...kept,
      extensions: [{ extension: rateLimit, config: { perPrincipal: { ...minute, count } } }],
    });
    {
      await using before = await startTestHost(withCount(1));
      await saidBefore(before, ['one']);
    }
    await using after = await startTestHost(withCount(2));
    expectReply(await after.say('two'), 'two');
    expectReply(await after.say('three'), 'three');
    expectDenied(await after.say('four'), refused);
  });

  it.each([false, true])(
    'that cannot be written let a message go unless failClosed is true: %s (judgement §6.5)',
    async (failClosed) => {
      await using lab = await rateLab({ perPrincipal: minute, failClosed });
      await Promise.all(Array.from({ length: 10_000 }, (_, at) => lab.store.set(`other/${at}`, 1)));
      const outcome = await lab.arrive({ sender: 'ann' });
      if (failClosed) expectFailed(outcome, 'threw');
      else
        expect(expectPassed(outcome).failures).toMatchObject([{ kind: 'threw', policy: 'open' }]);
    },
  );
});

describe('the reply', () => {
  it('goes to people, and not to a bot, who is limited like any other (judgement §6.5)', async () => {
    const config = { perPrincipal: { ...minute, count: 1 }, reply: 'Slowly, please.' };
    await using test = await startTestHost({ extensions: [{ extension: rateLimit, config }] });
    expectReply(await test.say('one'), 'one');
    expectReply(await test.say('two'), 'Slowly, please.');
    const bot = { from: 'bot', conversation: 'fake:bot', isBot: true };
    expectReply(await test.say({ ...bot, text: 'beep' }), 'beep');
    const end = await test.say({ ...bot, text: 'boop' });
    expectDenied(end, refused);
    expect(end.sends).toEqual([]);
  });

  it('is none if it is false', async () => {
    const config = { perPrincipal: { ...minute, count: 1 }, reply: false };
    await using test = await startTestHost({ extensions: [{ extension: rateLimit, config }] });
    await test.say('one');
    expectDenied(await test.say('two'), refused);
    expect(test.replies()).toEqual(['one']);
  });
});

describe('the settings', () => {
  it.each([
    [{}, 'must have perPrincipal, perConversation or both'],
    [{ perPrincipal: { count: 0, windowMs: 1 } }, 'config.perPrincipal.count'],
    [
      { perPrincipal: { count: 1.5, windowMs: 1 } },
      'config.perPrincipal.count: must be a whole number',
    ],
    [{ perConversation: { count: 1 } }, 'config.perConversation.windowMs'],
    [{ perPrincipal: { ...minute, windowMs: 32 * 86_400_000 } }, 'config.perPrincipal.windowMs'],
    [{ perPrincipal: minute, reply: true }, 'config.reply: must be a text or false'],
    [{ perPrincipal: minute, rely: 'x' }, 'Unrecognized key: "rely"'],
  ])('%j are refused', async (config, message) => {
    await expect(loadForTest(rateLimit, { config })).rejects.toThrow(message);
  });
});
