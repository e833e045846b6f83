import type { Ownership } from '@sluice/journal';
import {
  type CleanText,
  isDead,
  isOneOf,
  isOpenUpdate,
  type JournalTransaction,
  journalChanges,
  type NeededRows,
  openUpdates,
  type Scrub,
} from '@sluice/journal/internal';
import type { Clock } from 'sluice-kernel';
import type { PostgresQuery } from './connections.js';
import { type JoinedWrites, sendsTable, updatesTable } from './postgres-tables.js';
import { WorkingRows } from './working-rows.js';
import { WorkingSessions } from './working-sessions.js';
import { WorkingValues } from './working-values.js';

/** A transaction that several writes share. They are collected, and written by one statement. */
export interface SharedTransaction extends JournalTransaction {
  readonly query: PostgresQuery;
}

/** The parts of the changes of a journal. */
export interface RowOptions {
  readonly clock: Clock;
  readonly clean?: CleanText | undefined;
  readonly scrub?: Scrub | undefined;
  /** The partitions of the lanes in which it may begin updates. */
  readonly ownership: Ownership;
}

const isOneOfThem = 'event_id = ANY($1)';

/** The open updates of some lanes, of each no more than are asked for. */
const openOfLanes = `SELECT wanted.key AS open_in, one.event_id AS open_id
  FROM unnest($2::text[], $3::int4[]) AS wanted (key, most) CROSS JOIN LATERAL
    (SELECT event_id FROM sluice_updates WHERE lane = wanted.key AND ${isOpenUpdate} ORDER BY seq LIMIT wanted.most) AS one`;

/** Locks and reads the rows that the writes of a transaction look at. @returns what they change, and writes that. */
export async function workingRows(
  query: PostgresQuery,
  needs: readonly NeededRows[],
  { clock, clean, scrub, ownership }: RowOptions,
) {
  const updates = new WorkingRows(updatesTable, clean, scrub !== undefined);
  const sends = new WorkingRows(sendsTable, clean, scrub !== undefined);
  const idsOf = (kind: 'updates' | 'sends') => needs.flatMap((one) => one[kind] ?? []);
  const [updateIds, sendIds] = [idsOf('updates'), idsOf('sends')];
  const isOfDead = needs.some((one) => one.isOfDead);
  const sessions = new WorkingSessions(query);
  const values = new WorkingValues(query, clock.now());
  const lanes = new Map<string, number>();
  for (const { lane: { key, most } = {} } of needs)
    if (key !== undefined && (most !== undefined || ownership.partitionCount > 1))
      lanes.set(key, Math.max(most ?? 1, lanes.get(key) ?? 1));
  const loadUpdates = () => {
    if (isOfDead) return updates.load(query, `${isOneOfThem} OR state = 'dead'`, [updateIds]);
    const wanted = [updateIds, [...lanes.keys()], [...lanes.values()]];
    if (lanes.size > 0) return updates.load(query, isOneOfThem, wanted, openOfLanes);
    return updateIds.length > 0 ? updates.load(query, isOneOfThem, [updateIds]) : [];
  };
  const [beside, [last]] = await Promise.all([
    loadUpdates(),
    isOfDead ? query('SELECT coalesce(max(seq), 0) AS seq FROM sluice_sends') : [],
    sendIds.length > 0 ? sends.load(query, 'send_id = ANY($1)', [sendIds]) : undefined,
    values.load(needs.flatMap(({ value }) => value ?? [])),
  ]); // they run in this order
  const open = new Map([...lanes.keys()].map((key) => [key, new Set<string>()]));
  for (const { open_in, open_id } of beside) open.get(String(open_in))?.add(String(open_id));
  const openIn = (lane: string): number => {
    const ids = open.get(lane) ?? new Set();
    for (const one of updates.all)
      if (one.lane === lane && isOneOf(openUpdates, one.state)) ids.add(one.eventId);
    return ids.size;
  };
  const dead = (reason?: string) => updates.all.filter((one) => isDead(one, reason));
  const rows = { updates, sends, openIn, dead, lastSend: () => Number(last?.['seq'] ?? 0) };
  const changes = journalChanges(rows, clock, ownership, scrub);
  const at: SharedTransaction = { query, changes, sessions, values };
  const flush = (writes: JoinedWrites): void => {
    for (const one of [updates, sends, sessions, values]) one.flush(writes);
  };
  return { at, flush };
}
