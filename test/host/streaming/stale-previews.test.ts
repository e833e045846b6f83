import { describe, expect, it } from 'vitest';
import { journalError } from '../../../src/journal/errors.js';
import { type Journal, memoryStore } from '../../../src/journal/index.js';
import { deferred } from '../../../src/kernel/internal.js';
import { virtualClock } from '../../../src/testing/index.js';
import { hostLab } from '../../support/host-lab.js';
import { sharedJournal } from '../../support/shared-journal.js';
import { slowly } from '../../support/slowly.js';
import { type SenderCall, type Shown, streamingChannel } from '../../support/streaming-channel.js';
import { end, said, start } from '../../support/turn-lab.js';

/** Two hosts on one journal and one screen. Host a has all partitions, and its sender waits at some calls until it is let go on. */
async function staleLab(
  waitsAt: readonly SenderCall[],
  ofB: (journal: Journal) => Partial<Journal> = () => ({}),
  ofA: { readonly journal?: Partial<Journal>; readonly failsAt?: SenderCall } = {},
) {
  const clock = virtualClock();
  const shared = sharedJournal(clock);
  const screen: Shown[] = [];
  const store = memoryStore();
  let goOn = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const journalOf = (name: string): Journal => {
    const journal = shared.of(name);
    return { ...journal, ...(name === 'b' ? ofB(journal) : ofA.journal) };
  };
  const made = (name: string, before?: (call: SenderCall) => void | Promise<void>) =>
    hostLab({
      ...{ clock, store, journal: journalOf(name) },
      agents: [
        { id: 'main', provider: slowly(clock, () => [start, ...said('Hello world'), end()]) },
      ],
      channel: streamingChannel({
        ...{ everyHost: true, endsPreviews: { screen }, ...(before !== undefined && { before }) },
      }),
    });
  shared.give('a', shared.all);
  const a = await made('a', (call) => {
    if (call === ofA.failsAt) throw new Error('the provider has gone');
    return waitsAt.includes(call) ? held : undefined;
  });
  const b = await made('b');
  return {
    ...{ a, b, clock, shared, screen },
    goOn,
    sends: async () =>
      (await shared.of('b').sends()).map(({ kind, state, cause }) =>
        [kind, state, cause].join(' ').trim(),
      ),
    states: async () => (await shared.of('b').updates()).map(({ outcome }) => outcome),
    [Symbol.asyncDispose]: async () => {
      await a[Symbol.asyncDispose]();
      await b[Symbol.asyncDispose]();
    },
  };
}

describe('a host that has lost its partition while a streamed reply', () => {
  it.each([false, true])(
    'was to become its final: it leaves what the next host completes (durability §12.3; it sleeps: %s)',
    async (isAsleep) => {
      await using lab = await staleLab(['final', 'abort']);
      const { a, b, clock, shared } = lab;
      await a.channel.receive({ text: 'hi' }, '1');
      await clock.advance(1_000); // its final is kept as `sending`, and its call is under way
      expect(await lab.sends()).toEqual(['reply sending']);
      shared.give('b', shared.all, { isAsleep });
      await clock.advance(1_000);
      expect(lab.screen).toEqual([{ by: 'final', text: 'Hello world' }]);
      expect(await lab.states()).toEqual(['answered']);
      await clock.advance(60_000); // the time of its call is up, and it takes back
      lab.goOn();
      shared.wake();
      await clock.advance(60_000);
      expect(lab.screen).toEqual([{ by: 'final', text: 'Hello world' }]);
      expect(b.families().filter((family) => family === 'egress.sent')).toHaveLength(1);
    },
  );

  it('grew: the next one takes it back, and answers (durability §7.2, durability §12.3)', async () => {
    await using lab = await staleLab(['abort']);
    const { a, clock, shared } = lab;
    await a.channel.receive({ text: 'hi' }, '1');
    await clock.advance(50);
    expect(lab.screen).toMatchObject([{ by: 'preview' }]);
    shared.give('b', shared.all);
    await clock.advance(1_000);
    lab.goOn();
    await clock.advance(10_000);
    expect(await lab.sends()).toEqual(['stream-opening failed aborted', 'reply sent']);
    expect(lab.screen).toEqual([{ by: 'final', text: 'Hello world' }]);
  });

  it('was to be taken back for a host before it: it leaves what the next host completes (durability §12.3)', async () => {
    const [begun, goOn] = [deferred<void>(), deferred<void>()];
    await using lab = await staleLab([], (journal) => ({
      begin: async (...given) => {
        const result = await journal.begin(...given);
        begun.resolve();
        await goOn.promise;
        return result;
      },
    }));
    const { a, clock, shared } = lab;
    await a.channel.receive({ text: 'hi' }, '1');
    await clock.advance(50);
    expect(lab.screen).toMatchObject([{ by: 'preview' }]);
    shared.give('b', shared.all);
    await clock.advance(1_000);
    await begun.promise;
    shared.give('a', shared.all, { isAsleep: true }); // host b does not know of it
    await clock.advance(60_000);
    const final = [{ by: 'final', text: 'Hello world' }];
    expect(lab.screen).toEqual(final);
    goOn.resolve();
    await clock.advance(60_000);
    expect(lab.screen).toEqual(final);
    expect(await lab.states()).toEqual(['answered']);
  });

  it.each([['abort'], ['final', 'abort']] as const)(
    'was under way is renewed, and no other host has its partition: what was shown becomes its answer, once (durability §7.2, durability §11.4; it waits at %s, %s)',
    async (...waitsAt) => {
      await using lab = await staleLab(waitsAt);
      const { a, clock, shared } = lab;
      await a.channel.receive({ text: 'hi' }, '1');
      await clock.advance(waitsAt.length === 1 ? 50 : 1_000); // it grows, or its final is under way
      expect(lab.screen).toHaveLength(1);
      shared.stall('a');
      await clock.advance(10_000);
      shared.goOn('a');
      await clock.advance(1_000);
      lab.goOn();
      await clock.advance(60_000);
      expect(lab.screen).toEqual([{ by: 'final', text: 'Hello world' }]);
      expect(await lab.states()).toEqual(['answered']);
    },
  );

  it('grew, was not noted and cannot be taken back: nobody says that nothing of it is out (durability §6.13, durability §7.2)', async () => {
    let isAway = true;
    const journal = {
      shown: async () => {
        if (isAway) throw journalError('database-io', { path: 'memory', problem: 'it is away' });
      },
    };
    await using lab = await staleLab([], undefined, { journal, failsAt: 'abort' });
    const { a, clock } = lab;
    await a.channel.receive({ text: 'hi' }, '1');
    await clock.advance(50);
    expect(lab.screen).toMatchObject([{ by: 'preview' }]);
    await clock.advance(10_000);
    isAway = false;
    await clock.advance(60_000);
    const sends = await lab.sends();
    expect([new Set(sends.slice(0, -1)), sends.at(-1)]).toEqual([
      new Set(['stream-opening failed ambiguous']),
      'reply sent',
    ]);
    expect(await lab.states()).toEqual(['answered']);
  });
});
