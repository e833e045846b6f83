import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type DispatchFilter,
  type JournalReader,
  memoryJournal,
  openJournal,
  openSqlite,
} from '../../../src/journal/index.js';
import { testFolder } from '../../support/folder.js';
import { aDispatch } from '../journal-contract.js';

const families = ['ingress.normalized', 'agent.output.delta', 'egress.sent'] as const;
/** Ids as a kernel makes them, with that of the update and that of its first send among them. */
const eventIdOf = (message: number, at: number): string => {
  if (at === 0) return `u-${message}`;
  return at === 5 ? `u-${message}.1` : `0mwrvnn7${message}-000000${at}-u7agxh`;
};
/** The dispatches of three messages, in turns. */
const dispatches = Array.from({ length: 30 }, (_, nth) => {
  const [message, at] = [nth % 3, Math.floor(nth / 3)];
  return aDispatch(eventIdOf(message, at), {
    correlationId: `u-${message}`,
    family: families[at % 3] ?? 'egress.sent',
    occurredAtMs: 1_000 + at,
    body: JSON.stringify({ at, text: `ä "${'x'.repeat(at)}" of the secret-token` }),
    ...(at % 4 === 0 && { omitted: 'hot-path' as const, sessionId: 's' }),
  });
});

const rowsIn = (path: string): number => {
  using database = openSqlite(path, { readonly: true });
  return Number(database.prepare('SELECT count(*) AS n FROM dispatches').get()?.['n']);
};

describe('dispatches of one message in one row (durability §4.7)', () => {
  it('are read as if each had a row of its own, by each condition', async () => {
    const path = join(testFolder(), 'sluice.db');
    const journal = await openJournal(path, { keepForMs: Number.POSITIVE_INFINITY });
    const plain = memoryJournal();
    for (const one of dispatches) {
      journal.dispatched(one);
      plain.dispatched(one);
    }
    const filters: DispatchFilter[] = [
      {},
      { limit: 7 },
      { correlationId: 'u-1' },
      { correlationId: 'u-1', family: 'egress.sent' },
      { family: 'agent.output.delta' },
      { sinceMs: 1_005 },
      { eventId: 'not-there' },
      ...dispatches.map(({ eventId }) => ({ eventId })),
      { eventId: 'u-2', correlationId: 'u-2', family: 'ingress.normalized' },
    ];
    const read = async (reader: JournalReader, filter: DispatchFilter) =>
      (await reader.dispatches(filter))
        .map(({ seq: _, ...one }) => JSON.stringify(Object.entries(one).sort()))
        .sort();
    for (const filter of filters) {
      const { limit, ...unbounded } = filter;
      const found = await read(journal, filter);
      const all = await read(plain, unbounded);
      expect(found.length, JSON.stringify(filter)).toBe(Math.min(limit ?? 1_000, all.length));
      if (limit === undefined) expect(found, JSON.stringify(filter)).toEqual(all);
    }
    const everything = await journal.dispatches();
    expect(everything.map(({ seq }) => seq)).toEqual(dispatches.map((_, at) => at + 1));
    for (const { seq } of everything)
      expect((await journal.dispatches({ afterSeq: seq })).length).toBe(dispatches.length - seq);
    expect(journal.stats()).toMatchObject({ dispatches: 30, dispatchesDropped: 0 });
    await journal.close();
    expect(rowsIn(path)).toBe(3);
  });

  it('have no secret in them (durability §4.5)', async () => {
    const path = join(testFolder(), 'sluice.db');
    const journal = await openJournal(path, { secrets: ['secret-token'] });
    for (const one of dispatches) journal.dispatched({ ...one, occurredAtMs: Date.now() });
    const bodies = (await journal.dispatches()).map(({ body }) => body);
    await journal.close();
    expect(bodies).toHaveLength(dispatches.length);
    for (const body of bodies) expect(body).toMatch(/of the \[secret\]"\}$/);
  });

  it('stand beside the rows of an older file, each of which holds one (durability §1.7)', async () => {
    const path = join(testFolder(), 'sluice.db');
    const first = await openJournal(path);
    first.dispatched(aDispatch('old', { occurredAtMs: Date.now() }));
    await first.close();
    const second = await openJournal(path);
    for (const one of dispatches) second.dispatched({ ...one, occurredAtMs: Date.now() });
    expect(await second.dispatches()).toHaveLength(31);
    await second.close();
    expect(rowsIn(path)).toBe(1 + 3);
  });
});
