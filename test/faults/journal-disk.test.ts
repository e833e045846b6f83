import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SqliteJournal } from '../../src/journal/index.js';
import { isSluiceError } from '../../src/kernel/internal.js';
import { anUpdate, aSend, settableClock } from '../journal/journal-contract.js';
import { type DiskFailure, type DriverCall, onFaultyDisk } from '../support/faulty-disk.js';
import { fence, fenceOf } from '../support/fences.js';
import { testFolder } from '../support/folder.js';

const on = onFaultyDisk(() => import('../../src/journal/index.js'));

/** One transaction each, of every kind that a host makes. */
function writesTo(journal: SqliteJournal): (() => Promise<unknown>)[] {
  const { store } = journal;
  const session = { agentId: 'main', context: {}, memoryKeys: [], metadata: {} };
  const said = (content: string) => ({ role: 'user', content }) as const;
  return [
    () => journal.accept(anUpdate('a', { lane: 'l' })),
    () => journal.accept(anUpdate('b', { lane: 'l', body: `"${'words '.repeat(3_000)}"` })),
    () => journal.begin('a'),
    () => journal.release(fenceOf('a')),
    () => journal.begin('a'),
    () => store.saveSession({ ...session, sessionKey: 'k', sessionId: 's' }, { fence }),
    () => store.appendMessage('s', said('one'), { fence }),
    () => journal.prepare(fence, aSend('a.1', { correlationId: 'a' })),
    () => journal.shown(fence, 'a.1', '{"messageIds":[1]}'),
    () => journal.final(fence, { ...aSend('a.1'), body: '{"content":"more"}' }),
    () => journal.sending(fence, 'a.1'),
    () => journal.unsent(fence, 'a.1'),
    () => journal.sending(fence, 'a.1'),
    () => journal.endSend(fence, 'a.1', { state: 'sent', providerMessageId: '1' }),
    () => journal.endUpdate(fenceOf('a'), { isDead: false, outcome: 'answered' }),
    () => journal.endUpdate(fenceOf('b'), { isDead: true, outcome: 'failed', reason: 'why' }),
    () => journal.retry('b'),
    () => journal.endUpdate(fenceOf('b'), { isDead: true, outcome: 'failed', reason: 'why' }),
    () => store.appendMessage('s', said('two'), { fence }),
    () =>
      store.saveSession(
        { ...session, memoryKeys: ['m'], sessionKey: 'k', sessionId: 's' },
        { fence },
      ),
    () => journal.purge('b'),
  ];
}

/** All that a journal holds, in order. A write that failed may have used a number up. */
async function allOf(journal: SqliteJournal): Promise<unknown> {
  const { store } = journal;
  return {
    updates: (await journal.updates()).map(({ seq: _, ...record }) => record),
    sends: (await journal.sends()).map(({ seq: _, ...record }) => record),
    sessions: [await store.loadSession('k'), await store.readTranscript('s')],
  };
}

const open = (path: string) => on.loaded.openJournal(path, { clock: settableClock() });

/** What a journal holds before and after each write, where nothing fails. */
async function statesOf(): Promise<readonly unknown[]> {
  const journal = await open(join(testFolder(), 'sluice.db'));
  const states = [await allOf(journal)];
  for (const write of writesTo(journal)) {
    await write();
    states.push(await allOf(journal));
  }
  await journal.close();
  return states;
}

/** The sweep that a journal begins with has ended: nothing asks the disk of itself any more. */
async function quiet(): Promise<void> {
  for (let turns = 0; turns < 10; turns++) {
    on.disk.fails(() => {
      turns = 0;
      return undefined;
    });
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  on.disk.heals();
}

const failed = async (work: () => Promise<unknown>): Promise<unknown> => {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error;
  }
};

const rows: readonly (readonly [DiskFailure, string, readonly DriverCall['what'][]])[] = [
  ['EIO on fsync', 'database-io', ['commit']],
  ['EIO on read', 'database-io', ['begin', 'read']],
  ['a short write', 'database-io', ['write', 'commit']],
  ['ENOSPC', 'database-full', ['begin', 'write', 'commit']],
];

describe('fault 35: the disk fails under a journal', () => {
  it.each(rows)(
    '%s, at each call of each write in turn: it is told, and nothing is kept by halves (durability §1.2, durability §1.10)',
    async (failure, code, calls) => {
      const { disk } = on;
      const states = await statesOf();
      const journal = await open(join(testFolder(), 'sluice.db'));
      await quiet();
      let failures = 0;
      for (const [number, write] of writesTo(journal).entries()) {
        let isReached = true;
        for (let at = 1; isReached; at++) {
          isReached = false;
          let nth = 0;
          disk.fails(({ what }) => {
            if (!calls.includes(what) || ++nth !== at) return undefined;
            isReached = true;
            return failure;
          });
          const error = await failed(write);
          disk.heals();
          expect(error !== undefined).toBe(isReached);
          if (failure !== 'EIO on read') expect(journal.problem()).toBe(error); // /readyz answers by it
          // nothing of it is kept, or all of it
          expect(await allOf(journal)).toEqual(states[isReached ? number : number + 1]);
          if (!isReached) continue;
          failures++;
          if (!isSluiceError(error)) throw error;
          expect(error).toMatchObject({ code, details: { path: journal.path } });
          expect(error.hint).not.toBe('');
        }
      }
      expect(failures).toBeGreaterThanOrEqual(writesTo(journal).length); // each write has failed at least once
      await journal.close();
      const next = await open(journal.path);
      expect(await allOf(next)).toEqual(states.at(-1));
      await next.close();
    },
  );

  it('EIO on fsync under several writes at once: each of them is told, and none is kept (durability §1.2)', async () => {
    const { disk } = on;
    const journal = await open(join(testFolder(), 'sluice.db'));
    await quiet();
    disk.fails(({ what }) => (what === 'commit' ? 'EIO on fsync' : undefined));
    const writes = ['a', 'b', 'c'].map((id) => failed(() => journal.accept(anUpdate(id))));
    const errors = await Promise.all(writes);
    disk.heals();
    expect(errors).toEqual(errors.map(() => expect.objectContaining({ code: 'database-io' })));
    expect(await journal.updates()).toEqual([]);
    expect(journal.stats().accepted).toBe(0);
    await journal.close();
  });

  it('at each call while a journal is opened or closed: it is told, no lock is left, and nothing is lost (durability §1.1)', async () => {
    const { disk } = on;
    const path = join(testFolder(), 'sluice.db');
    const first = await open(path);
    for (const write of writesTo(first)) await write();
    const kept = await allOf(first);
    await first.close();
    const failures = { open: 0, close: 0 };
    let isReached = true;
    for (let at = 1; isReached; at++) {
      isReached = false;
      let nth = 0;
      const codes = new Set<string>();
      disk.fails(({ what }) => {
        if (++nth !== at) return undefined;
        isReached = true;
        codes.add(what === 'write' ? 'database-full' : 'database-io');
        return what === 'write' ? 'ENOSPC' : what === 'read' ? 'EIO on read' : 'EIO on fsync';
      });
      let step: 'open' | 'close' = 'open';
      const error = await failed(async () => {
        const journal = await open(path);
        step = 'close';
        await journal.close();
      });
      disk.heals();
      if (error !== undefined) {
        failures[step]++;
        if (!isSluiceError(error)) throw error;
        expect([...codes]).toEqual([error.code]);
        expect(error.details['path']).toBe(path);
      }
      const next = await open(path);
      expect(await allOf(next)).toEqual(kept);
      await next.close();
    }
    expect(failures.open).toBeGreaterThan(20);
    expect(failures.close).toBeGreaterThan(0);
  });

  it('while it is asked how it is: that is its problem, and no error of whoever asks (durability §1.10)', async () => {
    const { disk } = on;
    const journal = await open(join(testFolder(), 'sluice.db'));
    await quiet();
    disk.fails(({ what }) => (what === 'read' ? 'EIO on read' : undefined));
    expect(journal.problem()).toMatchObject({ code: 'database-io' });
    disk.heals();
    expect(journal.problem()).toBeUndefined();
    await journal.close();
  });
});
