import type { Clock } from '../../../../kernel/index.js';
import type { CleanText } from '../../clean-body.js';
import type { Ownership } from '../../hold.js';
import { isOneOf, openUpdates } from '../../journal.js';
import { type JournalChanges, journalChanges } from '../../journal-changes.js';
import { isOpenUpdate } from '../../rows/journal-schema.js';
import type { PostgresQuery } from './connections.js';
import type { JoinedWrites } from './joined-writes.js';
import { sendsTable, updatesTable } from './postgres-tables.js';
import { WorkingRows } from './working-rows.js';
import { WorkingSessions } from './working-sessions.js';
import { type NeededValue, WorkingValues } from './working-values.js';

/** A transaction that several writes share. They are collected, and written by one statement. */
export interface SharedTransaction {
  readonly query: PostgresQuery;
  readonly changes: JournalChanges;
  readonly sessions: WorkingSessions;
  readonly values: WorkingValues;
}

/** The rows that the changes of a write look at. */
export interface NeededRows {
  readonly updates?: readonly string[];
  readonly sends?: readonly string[];
  /** It begins an update if no other one of this lane is open. */
  readonly lane?: string;
  readonly value?: NeededValue;
  /** It looks at all dead letters, and at the last number of a send. */
  readonly isOfDead?: boolean;
  /** It gets a transaction of its own. */
  readonly isAlone?: boolean;
  /** It renews the right to write: it gets a transaction of its own, which is not fenced. */
  readonly isRenewal?: boolean;
}

/** The parts of the changes of a journal. */
export interface RowOptions {
  readonly clock: Clock;
  readonly clean?: CleanText | undefined;
  /** The parts of the lanes in which it may begin updates. */
  readonly ownership: Ownership;
}

/** Locks and reads the rows that the writes of a transaction look at. @returns what they change, and writes that. */
export async function workingRows(
  query: PostgresQuery,
  needs: readonly NeededRows[],
  { clock, clean, ownership }: RowOptions,
) {
  const updates = new WorkingRows(updatesTable, clean);
  const sends = new WorkingRows(sendsTable, clean);
  const idsOf = (kind: 'updates' | 'sends') => needs.flatMap((one) => one[kind] ?? []);
  const [updateIds, sendIds] = [idsOf('updates'), idsOf('sends')];
  let lastSend = 0;
  if (needs.some(({ isOfDead }) => isOfDead)) {
    await updates.load(query, `event_id = ANY($1) OR state = 'dead'`, [updateIds]);
    const [last] = await query('SELECT coalesce(max(seq), 0) AS seq FROM sluice_sends');
    lastSend = Number(last?.['seq']);
  } else if (updateIds.length > 0) await updates.load(query, 'event_id = ANY($1)', [updateIds]);
  if (sendIds.length > 0) await sends.load(query, 'send_id = ANY($1)', [sendIds]);
  const lanes = ownership.isShared ? needs.flatMap(({ lane }) => lane ?? []) : [];
  const open =
    lanes.length === 0
      ? []
      : await query(`SELECT lane FROM sluice_updates WHERE lane = ANY($1) AND ${isOpenUpdate}`, [
          lanes,
        ]);
  const isOpen = (lane: string): boolean =>
    open.some((row) => row['lane'] === lane) ||
    updates.all.some((one) => one.lane === lane && isOneOf(openUpdates, one.state));
  const dead = (reason?: string) =>
    updates.all.filter(
      (one) =>
        one.state === 'dead' &&
        (reason === undefined || (one.outcome === 'joined' && one.reason === reason)),
    );
  const rows = { updates, sends, dead, lastSend: () => lastSend };
  const changed = ownership.isShared ? { ...rows, isOpen } : rows;
  const sessions = new WorkingSessions();
  const values = new WorkingValues(query, clock.now());
  await values.load(needs.flatMap(({ value }) => value ?? []));
  const changes = journalChanges(changed, clock, ownership);
  const at: SharedTransaction = { query, changes, sessions, values };
  return {
    at,
    write: (writes: JoinedWrites): void => {
      for (const one of [updates, sends, sessions, values]) one.write(writes);
    },
  };
}
