import { describe, expect, it } from 'vitest';
import { Fleet } from './fleet.js';

const patiently = { timeout: 60_000, interval: 100 };
const rounds = Math.max(3, Number(process.env['FLEET_ROUNDS'] ?? 3));
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

const clocks = ['late', 'early', 'steps'] as const;

describe('a fleet of hosts under load', () => {
  it('grows from one to three and shrinks to two, and loses nothing and doubles nothing (durability §11.11, durability §12.4)', {
    timeout: 240_000,
  }, async () => {
    await using fleet = await Fleet.make({ conversations: 24 });
    const waits: Record<string, number> = {};
    const measured = async (
      what: string,
      shares: readonly number[],
      act: () => Promise<unknown>,
    ) => {
      const fromMs = nowMs();
      await act();
      await expect.poll(() => fleet.shares(), patiently).toEqual(shares);
      await pause(300);
      waits[what] = fleet.longestWaitMs(fromMs);
    };
    await fleet.start();
    fleet.load();
    await measured('alone', [8], async () => undefined);
    await measured('two join', [3, 3, 2], () => Promise.all([fleet.start(), fleet.start()]));
    const [first, second] = fleet.hosts;
    if (first === undefined || second === undefined) throw new Error('there are three');
    await measured('one is stopped', [4, 4], async () =>
      expect(await fleet.end(first, 'SIGTERM')).toBe(0),
    );
    await measured('one is killed', [8], () => fleet.end(second, 'SIGKILL'));
    await measured('one joins', [4, 4], () => fleet.start());
    await fleet.stopLoad();
    await fleet.check();
    console.log(`${fleet.messages.size} messages; longest wait for an answer in ms:`, waits);
  });

  it(`takes turns in sessions that conversations of several hosts share, whose clocks are a day off and step, also if some are killed (durability §11.2, durability §12.8, ${rounds} rounds)`, {
    timeout: 120_000 + rounds * 20_000,
  }, async () => {
    await using fleet = await Fleet.make({ conversations: 9, sessions: 3 });
    await Promise.all(clocks.map((clock) => fleet.start(clock)));
    fleet.load();
    for (let round = 0; round < rounds; round++) {
      await pause(500 + Math.random() * 500);
      const host = fleet.hosts[round % 3];
      if (host !== undefined) await fleet.end(host, round % 3 === 2 ? 'SIGTERM' : 'SIGKILL');
      await fleet.start(clocks[round % 3]);
    }
    await fleet.stopLoad();
    await fleet.check();
  });
});
