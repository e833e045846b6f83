import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SqliteJournal } from '../../src/journal/index.js';
import { virtualClock } from '../../src/testing/index.js';
import { type DiskFailure, type DriverCall, onFaultyDisk } from '../support/faulty-disk.js';
import { testFolder } from '../support/folder.js';
import type { HostLab } from '../support/host-lab.js';
import { type ScriptedChannel, scriptedChannel } from '../support/scripted-channel.js';

const on = onFaultyDisk(async () => ({
  ...(await import('../../src/host.js')),
  ...(await import('../support/host-lab.js')),
}));

const messages = [
  ['1', 'one', 'a'],
  ['2', 'two', 'b'],
  ['3', 'three', 'a'],
] as const;

/** A host with a journal, and a provider that brings each message until it is acknowledged. */
interface World {
  readonly lab: HostLab;
  readonly journal: SqliteJournal;
  /** Brings what is not acknowledged, and lets virtual time pass and the disk work. */
  pass(ms: number): Promise<void>;
  stop(): Promise<void>;
}

async function worldOf(path: string, channel = scriptedChannel()): Promise<World> {
  const clock = virtualClock();
  const journal = await on.loaded.openJournal(path, { clock });
  const lab = await on.loaded.hostLab({ journal, store: journal.store, clock, channel });
  const bring = (): void => {
    const acknowledged = new Set(channel.acknowledged.map(({ updateId }) => updateId));
    for (const [id, text, conversation] of messages)
      if (!acknowledged.has(id)) void channel.receive({ text, conversation }, id);
  };
  const pass = async (ms: number): Promise<void> => {
    for (let at = 0; at < ms; at += 250) {
      if (at % 1_000 === 0) bring();
      await clock.advance(250);
      for (let turns = 0; turns < 3; turns++)
        await new Promise<void>((resolve) => setImmediate(resolve));
    }
  };
  const stop = async (): Promise<void> => {
    let isOver = false;
    const stopping = lab.host.stop({ timeoutMs: 1_000 }).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await clock.advance(100);
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    await stopping;
  };
  return { lab, journal, pass, stop };
}

const acknowledgedBy = ({ acknowledged }: ScriptedChannel): (string | undefined)[] =>
  acknowledged.map(({ updateId }) => updateId).sort();

const errorsOf = ({ log }: HostLab): string[] =>
  log.entries.flatMap(({ message }) => (message.includes('takes nothing in') ? [message] : []));

const goesOn = 'the host goes on with all of it';
const takesUp = 'the next host takes all of it up';
const either = 'either does, in turn';

const rows: readonly (readonly [DiskFailure, string, string, readonly DriverCall['what'][]])[] = [
  ['EIO on fsync', goesOn, 'database-io', ['commit']],
  ['EIO on fsync', takesUp, 'database-io', ['commit']],
  ['ENOSPC', either, 'database-full', ['commit']],
];

describe('fault 35: the disk fails under a host', () => {
  it.each(rows)(
    '%s, from each call on in turn: nothing is acknowledged or sent until it ends, and then %s (durability §1.10, durability §6.2, durability §6.7, durability §9.1)',
    async (failure, how, code, calls) => {
      const { disk } = on;
      let isReached = true;
      let rounds = 0;
      for (let from = 1; isReached; from++) {
        const path = join(testFolder(), 'sluice.db');
        const channel = scriptedChannel();
        let world = await worldOf(path, channel);
        await world.pass(0);
        isReached = false;
        let nth = 0;
        disk.fails(({ what }) => {
          if (!calls.includes(what) || ++nth < from) return undefined;
          isReached = true;
          return failure;
        });
        await world.pass(1_000);
        if (isReached) {
          await world.pass(1_250); // the host looks each second
          rounds++;
          expect(world.lab.host.health().journal).toMatchObject({ code });
          expect(errorsOf(world.lab)).toEqual([expect.stringContaining(code)]);
          // what is out was kept before
          const ids = (await world.journal.updates()).map(({ updateId }) => updateId);
          expect(acknowledgedBy(channel).filter((id) => !ids.includes(id))).toEqual([]);
          const given = (await world.journal.sends()).filter(({ attempts }) => attempts > 0);
          expect(given.length).toBeGreaterThanOrEqual(channel.sent.length);
        }
        const isNext = how === takesUp || (how === either && from % 2 === 0);
        if (isNext) {
          await world.stop();
          disk.heals();
          world = await worldOf(path, channel);
        } else disk.heals();
        await world.pass(3_000);
        expect(world.lab.host.health().journal?.code).toBeUndefined();
        const updates = await world.journal.updates();
        const sends = await world.journal.sends();
        const told = updates.map(({ updateId, eventId, outcome }) => {
          const ambiguous = sends.some(
            ({ correlationId, cause }) => correlationId === eventId && cause === 'ambiguous',
          );
          // a host that ended between a send and its end: the next one cannot know (durability §7.2)
          return [updateId, isNext && ambiguous && outcome === 'failed' ? 'answered' : outcome];
        });
        expect(told.sort()).toEqual(messages.map(([id]) => [id, 'answered']));
        expect(acknowledgedBy(channel)).toEqual(['1', '2', '3']);
        const open = sends.filter(({ state }) => state !== 'sent' && state !== 'failed');
        expect(open).toEqual([]);
        expect(channel.sent.map(({ content }) => content).sort()).toEqual(['one', 'three', 'two']);
        await world.stop();
      }
      expect(rounds).toBeGreaterThan(6);
    },
  );
});
