import { memoryKeyValues } from '@sluice/sdk/extension/internal';
import { type Clock, definedFields, systemClock } from 'sluice-kernel/internal';
import { isOfKind } from './entry-kinds.js';
import { type Ownership, wholeOwnership } from './fence.js';
import {
  type DispatchRecord,
  isOneOf,
  type Journal,
  openSends,
  openUpdates,
  type SendRecord,
  type UpdateRecord,
} from './journal.js';
import { isDead, journalChanges, noteTending, writtenChanges } from './journal-changes.js';
import type { JournalCounts } from './journal-counts.js';
import { InOrder, MemoryRows, newest } from './memory-rows.js';
import type { Scrub } from './privacy/scrub.js';
import type { ChangeableRows } from './send-changes.js';

/** The options of a journal in memory. */
export interface MemoryJournalOptions {
  readonly clock?: Clock;
  /** When its host acknowledges an update: `ended` if no later host gets the journal (durability §6.8); `persisted` if absent. */
  readonly acknowledge?: Journal['acknowledge'];
  /**
   * The number of ended updates that are kept, each with its sends; as many ended sends of no update, and as many dispatches,
   * are kept, too. 10 000 if absent, 0 if updates are acknowledged at their end.
   */
  readonly keepRows?: number;
  /** The partitions of the lanes that its host handles: all of them, if absent. */
  readonly ownership?: Ownership;
  /** Cleans texts that are kept for reading (durability §13): see `scrubber`. */
  readonly scrub?: Scrub;
}

/**
 * A journal in memory: it is gone with the process. A host that is given no journal makes one that acknowledges at the end.
 * The cost to keep a message and to find it again does not depend on how many were kept before. The oldest rows that have
 * ended are dropped, dead letters among them (durability §1.16).
 *
 * @example
 * const journal = memoryJournal();
 * const host = createHost({ agents, channels, journal });
 */
export function memoryJournal({
  clock = systemClock,
  acknowledge = 'persisted',
  keepRows = acknowledge === 'persisted' ? 10_000 : 0,
  ownership = { ...wholeOwnership(), slotOf: () => 0 }, // nothing of it is ever moved
  scrub,
}: MemoryJournalOptions = {}): Journal {
  const { updates, sends } = emptyRows();
  const dispatches = new InOrder<DispatchRecord>();
  const counted = {
    ...{ accepted: 0, duplicates: 0, dispatches: 0 },
    ...{ dispatchesDropped: 0, charactersWaiting: 0, commits: 0, commitMs: 0 },
  };
  let seq = 0;
  const endedUpdates = newest(keepRows, (eventId) => {
    updates.delete(eventId);
    for (const { sendId, state } of sends.inGroup(eventId))
      if (!isOneOf(openSends, state)) sends.delete(sendId);
  });
  const endedSends = newest(keepRows, (sendId) => sends.delete(sendId)); // those of no update that is kept

  const changeableUpdates = changeable(updates, () => ++seq);
  const changes = journalChanges<UpdateRecord, SendRecord>(
    {
      updates: {
        ...changeableUpdates,
        change: (row, fields) => {
          changeableUpdates.change(row, fields);
          if (fields.state === 'accepted') endedUpdates.delete(row.eventId); // it is tried again
        },
      },
      sends: changeable(sends, () => ++seq),
      openIn: (lane, most) => Math.min(most, updates.inGroup(lane).length),
      dead: (reason) => [...updates.values()].filter((one) => isDead(one, reason)),
      lastSend: () => seq,
    },
    clock,
    ownership,
    scrub,
  );

  const written = writtenChanges(async (run) => run({ changes }));
  const { tending, wasTended } = noteTending(written);

  return {
    ...{ acknowledge, ownership },
    ...definedFields({ scrub }),
    keyValues: memoryKeyValues(clock),
    ...written,
    ...tending,
    accept: async (update, isBegun, mostOpen) => {
      const accepted = changes.accept(update, isBegun, mostOpen);
      if (accepted.status === 'full') endedUpdates.add(update.eventId);
      counted[accepted.status === 'known' ? 'duplicates' : 'accepted']++;
      return accepted;
    },
    endUpdate: async (fence, end) => {
      changes.endUpdate(fence, end);
      endedUpdates.add(fence.eventId);
    },
    endSend: async (fence, sendId, end) => {
      changes.endSend(fence, sendId, end);
      const { correlationId = '' } = sends.get(sendId) ?? {};
      if (updates.get(correlationId) === undefined) endedSends.add(sendId);
    },
    dispatched: (dispatch) => {
      const clean = scrub && { body: scrub(dispatch.body) };
      dispatches.set({ ...dispatch, ...clean, seq: ++counted.dispatches });
      if (dispatches.size > keepRows) dispatches.dropFirst(Math.max(1, keepRows >> 3)); // many at once cost as much as one
    },
    updates: async (filter = {}) => {
      const { states, lane, withoutBody = false, correlationId, eventId = correlationId } = filter;
      const isOpen = states?.every((state) => isOneOf(openUpdates, state)) ?? false;
      const of = { id: eventId, group: isOpen ? lane : undefined, isOpen };
      const rows = updates.chosen(filter, of, (row) => ({
        id: row.eventId,
        correlationId: row.eventId,
        atMs: row.acceptedAtMs,
        fits: (states?.includes(row.state) ?? true) && (lane ?? row.lane) === row.lane,
      }));
      return withoutBody ? rows.map(({ body: _, ...row }) => row) : rows;
    },
    sends: async (filter = {}) => {
      const { states, eventId, correlationId } = filter;
      const isOpen = states?.every((state) => isOneOf(openSends, state)) ?? false;
      return sends.chosen(filter, { id: eventId, group: correlationId, isOpen }, (row) => ({
        id: row.sendId,
        correlationId: row.correlationId,
        atMs: row.preparedAtMs,
        fits: states?.includes(row.state) ?? true,
      }));
    },
    dispatches: async (filter = {}) =>
      dispatches.chosen(filter, (one) => ({
        id: one.eventId,
        correlationId: one.correlationId,
        atMs: one.occurredAtMs,
        fits: (filter.family ?? one.family) === one.family && isOfKind(one, filter),
      })),
    counts: async () => countsOf(updates, sends),
    changedOutside: wasTended,
    problem: () => undefined,
    stats: () => ({ ...counted }),
    close: async () => undefined,
  };
}

function emptyRows() {
  const updates = new MemoryRows<UpdateRecord>({
    idOf: ({ eventId }) => eventId,
    groupOf: ({ lane, state }) => (isOneOf(openUpdates, state) ? lane : undefined),
    isOpen: ({ state }) => isOneOf(openUpdates, state),
  });
  const sends = new MemoryRows<SendRecord>({
    idOf: ({ sendId }) => sendId,
    groupOf: ({ correlationId }) => correlationId,
    isOpen: ({ state }) => isOneOf(openSends, state),
  });
  return { updates, sends };
}

function countsOf(updates: MemoryRows<UpdateRecord>, sends: MemoryRows<SendRecord>): JournalCounts {
  const counts = {
    updates: { accepted: 0, handling: 0, dead: 0 },
    sends: { prepared: 0, sending: 0 },
  };
  const died: number[] = [];
  for (const { state, endedAtMs } of updates.values()) {
    if (state !== 'ended') counts.updates[state]++;
    if (state === 'dead' && endedAtMs !== undefined) died.push(endedAtMs);
  }
  for (const { state } of sends.values())
    if (state === 'prepared' || state === 'sending') counts.sends[state]++;
  return { ...counts, ...(died.length > 0 && { oldestDeadAtMs: Math.min(...died) }) };
}

/** The rows as changes see them. */
function changeable<Row extends { readonly seq: number; readonly body?: string }>(
  rows: MemoryRows<Row>,
  nextSeq: () => number,
): ChangeableRows<Row, Row> {
  return {
    find: (id) => rows.get(id),
    bodyOf: ({ body }) => body,
    add: (record) => {
      const row = { seq: nextSeq(), ...record } as Row; // a record is a row without its number
      return rows.add(row);
    },
    change: (row, fields) => rows.set(definedFields(Object.assign({}, row, fields)) as Row), // only optional fields go
  };
}
