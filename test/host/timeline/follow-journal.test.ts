import { describe, expect, it } from 'vitest';
import {
  cloudEventOf,
  cursorOf,
  followJournal,
  keepTimeline,
  type TimelineEntry,
} from '../../../src/host/index.js';
import { type Journal, memoryJournal } from '../../../src/journal/index.js';

const keep = (journal: Journal, ...ids: readonly string[]): void => {
  for (const id of ids)
    keepTimeline(journal)({
      ...{ kind: 'lane', of: 'session', lane: 'main', waitedMs: 0 },
      ...{ id, correlationId: `u-${id}`, atMs: 1_000 },
    });
};

async function all(records: AsyncIterable<TimelineEntry>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of records) ids.push(id);
  return ids;
}

describe('followJournal', () => {
  it('yields each record once, in order, and ends with follow: false (sight §3.1)', async () => {
    const journal = memoryJournal();
    const ids = Array.from({ length: 1_203 }, (_, at) => `f${at}`); // more than it reads at once
    keep(journal, ...ids);
    expect(await all(followJournal(journal, { follow: false }))).toEqual(ids);
  });

  it('waits for more until its signal aborts (sight §3.1)', async () => {
    const journal = memoryJournal();
    const stop = new AbortController();
    keep(journal, 'a');
    const seen: string[] = [];
    for await (const { id } of followJournal(journal, { pollMs: 1, signal: stop.signal })) {
      seen.push(id);
      if (id === 'a') queueMicrotask(() => keep(journal, 'b'));
      else stop.abort();
    }
    expect(seen).toEqual(['a', 'b']);
  });

  it('begins after a cursor, or now (sight §3.2)', async () => {
    const journal = memoryJournal();
    keep(journal, 'a', 'b', 'c');
    const { value } = await followJournal(journal, { follow: false }).next();
    if (value === undefined) throw new Error('there is no record');
    const from = cursorOf(value);
    expect(await all(followJournal(journal, { from, follow: false }))).toEqual(['b', 'c']);
    expect(await all(followJournal(journal, { from: 'now', follow: false }))).toEqual([]);
    await expect(all(followJournal(journal, { from: 'x' }))).rejects.toMatchObject({
      code: 'bad-option',
    });
  });

  it('tells of no gap before the first record of a journal that keeps none yet, from now on (sight §3.2)', async () => {
    const kept = memoryJournal();
    keep(kept, 'a', 'b', 'c');
    const stop = new AbortController();
    const seen: string[] = [];
    let looks = 0;
    const pruned: Pick<Journal, 'dispatches'> = {
      // it is empty at first, and the first two were dropped before that
      dispatches: async (filter) =>
        ++looks === 1 ? [] : (await kept.dispatches(filter)).filter(({ seq }) => seq > 2),
    };
    for await (const { kind, id } of followJournal(pruned, {
      from: 'now',
      pollMs: 1,
      signal: stop.signal,
    })) {
      seen.push(`${kind} ${id}`);
      stop.abort();
    }
    expect(seen).toEqual(['lane c']);
  });

  it('goes on where a consumer was, and brings again what it had not taken (sight §3.3)', async () => {
    const journal = memoryJournal();
    keep(journal, 'a', 'b', 'c');
    const how = { consumer: 'billing', follow: false } as const;
    for await (const { id } of followJournal(journal, how)) if (id === 'b') break;
    expect(await all(followJournal(journal, how))).toEqual(['b', 'c']);
    expect(await all(followJournal(journal, how))).toEqual([]);
    expect(await all(followJournal(journal, { consumer: 'other', follow: false }))).toHaveLength(3);
    await expect(
      all(followJournal(journal, { consumer: 'two words', follow: false })),
    ).rejects.toMatchObject({ code: 'bad-option' });
  });

  it('shows what a bounded journal has dropped as a gap with its number (sight §2.2)', async () => {
    const journal = memoryJournal({ keepRows: 8 });
    keep(journal, ...Array.from({ length: 20 }, (_, at) => `f${at}`));
    const records: TimelineEntry[] = [];
    for await (const record of followJournal(journal, { follow: false })) records.push(record);
    const [gap, ...rest] = records;
    expect(gap).toMatchObject({ kind: 'gap', why: 'gone', count: 20 - rest.length });
    expect(rest.at(0)?.id).toBe(`f${20 - rest.length}`);
    const kinds = ['lane'] as const;
    const lanes = await all(followJournal(journal, { kinds, follow: false }));
    expect(lanes).toEqual(rest.map(({ id }) => id));
  });
});

describe('cloudEventOf', () => {
  it('names the kind and the message, and has the record as data (sight §4.1)', async () => {
    const journal = memoryJournal();
    keep(journal, 'a');
    const { value } = await followJournal(journal, { follow: false }).next();
    if (value === undefined) throw new Error('there is no record');
    expect(cloudEventOf(value, '/test')).toEqual({
      ...{ specversion: '1.0', type: 'sluice.lane', source: '/test', id: '1', sequence: '1' },
      ...{ time: '1970-01-01T00:00:01.000Z', subject: 'a', partitionkey: 'u-a' },
      ...{ datacontenttype: 'application/json', data: value },
    });
  });
});
