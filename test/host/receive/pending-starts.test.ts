import { describe, expect, it } from 'vitest';
import { memoryJournal } from '../../../src/journal/index.js';
import { fakeChannel } from '../../../src/testing/index.js';
import { turns } from '../../support/batch-lab.js';
import { hostLab } from '../../support/host-lab.js';

/** A channel whose starts fail as they are told to, one after the other. */
function startingSo(...failures: (Error | (() => Promise<void>))[]) {
  const channel = fakeChannel({ id: 'scripted' });
  const tries: number[] = [];
  const stopped: string[] = [];
  return Object.assign(
    { tries, stopped, channel },
    {
      channel: {
        ...channel,
        startAccount: async (...given: Parameters<typeof channel.startAccount>) => {
          const failure = failures[tries.length];
          tries.push(tries.length);
          if (failure instanceof Error) throw failure;
          await failure?.();
          return channel.startAccount(...given);
        },
        stopAccount: async (accountId: string) => {
          stopped.push(accountId);
          return channel.stopAccount(accountId);
        },
      },
    },
  );
}
const away = Object.assign(new Error('it is away'), { code: 'EAWAY', retryAfterMs: 0 });

describe('an account that cannot be started yet (§14.18)', () => {
  it('is started again after waits that grow to half a minute; the host runs meanwhile, and says why', async () => {
    const { channel, tries } = startingSo(...Array.from({ length: 7 }, () => away));
    await using lab = await hostLab({ channel });
    expect(lab.host.health()).toMatchObject({
      state: 'running',
      accounts: [],
      starting: [
        {
          channel: 'scripted',
          accountId: 'default',
          failures: 1,
          code: 'EAWAY',
          lastFailure: 'it is away',
        },
      ],
    });
    const waits = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000];
    for (const [at, ms] of waits.entries()) {
      await lab.clock.advance(ms - 1);
      expect(tries).toHaveLength(at + 1);
      await lab.clock.advance(1);
      await turns();
      expect(tries).toHaveLength(at + 2);
    }
    expect(lab.of('account.started')).toHaveLength(1);
    expect(lab.of('account.stopped')).toEqual([]);
    await lab.say('hello');
    expect(lab.texts()).toEqual(['hello']);
  });

  it('is started no sooner than its provider asks', async () => {
    const { channel, tries } = startingSo(
      Object.assign(new Error('later'), { retryAfterMs: 70_000 }),
    );
    await using lab = await hostLab({ channel });
    await lab.clock.advance(69_999);
    expect(tries).toHaveLength(1);
    await lab.clock.advance(1);
    await turns();
    expect(lab.of('account.started')).toHaveLength(1);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 'soon'])(
    'is refused, and not waited for, if its error asks for the wait %s',
    async (retryAfterMs) => {
      const other = fakeChannel({ id: 'other' });
      const { channel, tries } = startingSo(Object.assign(new Error('no'), { retryAfterMs }));
      await using lab = await hostLab({ channel, channels: [other, channel] });
      await lab.clock.advance(60_000);
      expect(tries).toHaveLength(1);
      expect(lab.host.health()).not.toHaveProperty('starting');
    },
  );

  it('is given up when it is refused, with its words; what waits in the journal stays', async () => {
    const { channel, tries } = startingSo(away, new Error('the token is wrong'));
    await using lab = await hostLab({ channel, journal: memoryJournal() });
    await lab.clock.advance(1_000);
    await turns();
    expect(lab.of('account.stopped')[0]?.payload).toMatchObject({ error: 'the token is wrong' });
    await lab.clock.advance(600_000);
    expect(tries).toHaveLength(2);
    expect(lab.host.health()).not.toHaveProperty('starting');
  });

  it('keeps the host from ending while it is waited for, and no longer', async () => {
    const other = fakeChannel({ id: 'other' });
    const { channel } = startingSo(away, new Error('no'));
    await using lab = await hostLab({ channel, channels: [other, channel] });
    let hasStopped = false;
    void lab.host.stopped.then(() => {
      hasStopped = true;
    });
    other.end();
    await turns();
    expect([lab.host.health().state, hasStopped]).toEqual(['running', false]);
    await lab.clock.advance(1_000);
    await turns();
    expect(hasStopped).toBe(true); // nothing comes any more
  });

  it('is started no more when the host stops, also if its start is under way', async () => {
    let go = (): void => undefined;
    const held = () =>
      new Promise<void>((resolve) => {
        go = resolve;
      });
    const waiting = startingSo(away);
    const lab = await hostLab({ channel: waiting.channel });
    await lab.host.stop();
    await lab.clock.advance(60_000);
    expect(waiting.tries).toHaveLength(1);

    const underWay = startingSo(away, held);
    const second = await hostLab({ channel: underWay.channel });
    await second.clock.advance(1_000);
    await turns();
    expect(underWay.tries).toHaveLength(2);
    await second.host.stop();
    go();
    await turns();
    expect(underWay.stopped.at(-1)).toBe('default');
    expect(second.of('account.started')).toEqual([]);
  });
});
