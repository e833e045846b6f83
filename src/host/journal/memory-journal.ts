import { memoryKeyValues } from '../../extension/internal.js';
import { type Clock, type SluiceError, systemClock } from '../../kernel/index.js';
import { hostError } from '../errors.js';
import { isOfKind } from './audit-mark.js';
import {
  type DispatchRecord,
  type Journal,
  newSendState,
  newUpdateState,
  openSends,
  openUpdates,
  type SendRecord,
  type UpdateRecord,
} from './journal.js';
import { InOrder, MemoryRows, Newest } from './memory-rows.js';
import { joinedReason } from './message-end.js';

/** The options of a journal in memory. */
export interface MemoryJournalOptions {
  readonly clock?: Clock;
  /** If it is `false`, no later host gets the journal (durability §6.8); `true` if absent. */
  readonly outlivesHost?: boolean;
  /**
   * The number of ended updates that are kept, each with its sends; so many ended sends of no update, and so many dispatches
   * are kept, too. 10 000 if absent, 0 if the journal does not outlive its host.
   */
  readonly keepRows?: number;
}

/**
 * A journal in memory: it is gone with the process. A host that is given no journal makes one that does not outlive it.
 * The cost to keep a message and to find it again does not depend on how many were kept before. The oldest rows that have
 * ended are dropped, dead letters among them (durability §1.16).
 *
 * @example
 * const journal = memoryJournal();
 * const host = createHost({ agents, channels, journal });
 */
export function memoryJournal({
  clock = systemClock,
  outlivesHost = true,
  keepRows = outlivesHost ? 10_000 : 0,
}: MemoryJournalOptions = {}): Journal {
  const updates = new MemoryRows<UpdateRecord>({
    idOf: ({ eventId }) => eventId,
    groupOf: ({ lane, state }) => (includes(openUpdates, state) ? lane : undefined),
    isOpen: ({ state }) => includes(openUpdates, state),
  });
  const sends = new MemoryRows<SendRecord>({
    idOf: ({ sendId }) => sendId,
    groupOf: ({ correlationId }) => correlationId,
    isOpen: ({ state }) => includes(openSends, state),
  });
  const dispatches = new InOrder<DispatchRecord>();
  const counted = {
    ...{ accepted: 0, duplicates: 0, dispatches: 0 },
    ...{ dispatchesDropped: 0, charactersWaiting: 0 },
  };
  let seq = 0;
  const endedUpdates = new Newest(keepRows, (eventId) => {
    updates.delete(eventId);
    for (const { sendId, state } of sends.inGroup(eventId))
      if (!includes(openSends, state)) sends.delete(sendId);
  });
  const endedSends = new Newest(keepRows, (sendId) => sends.delete(sendId)); // those of no update that is kept

  const changeUpdate = (
    eventId: string,
    wanted: string,
    change: (was: UpdateRecord) => UpdateRecord,
  ): UpdateRecord => {
    const was = updates.get(eventId);
    if (was === undefined || !includes(openUpdates, was.state))
      throw misuse('update', eventId, wanted, was?.state);
    const is = change(was);
    updates.set(is);
    return is;
  };
  const changeSend = (
    sendId: string,
    wanted: string,
    change: (was: SendRecord) => SendRecord,
  ): void => {
    const was = sends.get(sendId);
    if (was === undefined || !includes(openSends, was.state))
      throw misuse('send', sendId, wanted, was?.state);
    sends.set(change(was));
  };

  return {
    outlivesHost,
    keyValues: memoryKeyValues(clock),
    accept: async (update, isBegun = false) => {
      const known = updates.get(update.eventId);
      if (known !== undefined) {
        counted.duplicates++;
        return { status: 'known', state: known.state, attempts: known.attempts };
      }
      counted.accepted++;
      const acceptedAtMs = clock.now();
      updates.set(Object.assign({ seq: ++seq, acceptedAtMs }, newUpdateState(isBegun), update));
      return { status: 'accepted' };
    },
    begin: async (eventId, joined = []) => {
      const { state } = updates.get(eventId) ?? {};
      if (joined.length > 0 && !includes(openUpdates, state ?? ''))
        throw misuse('update', eventId, 'begun', state);
      const joining = joined.map((id) => {
        const row = updates.get(id);
        if (row?.state !== 'accepted') throw misuse('update', id, 'joined', row?.state);
        return row;
      });
      for (const row of joining) updates.set({ ...row, joinedTo: eventId });
      return changeUpdate(eventId, 'begun', (was) => ({
        ...was,
        state: 'handling',
        attempts: was.attempts + 1,
      })).attempts;
    },
    giveBack: async (eventId) => {
      const was = updates.get(eventId);
      if (was?.state !== 'handling') throw misuse('update', eventId, 'given back', was?.state);
      updates.set({ ...was, attempts: Math.max(0, was.attempts - 1) });
    },
    endUpdate: async (eventId, { isDead, ...end }) => {
      changeUpdate(eventId, 'ended', ({ body, retriedAfterSeq: _, joinedTo: _to, ...was }) => {
        const state = isDead ? 'dead' : 'ended';
        const kept = isDead && body !== undefined ? { body } : undefined;
        return Object.assign(was, end, { state, endedAtMs: clock.now() } as const, kept);
      });
      endedUpdates.add(eventId);
    },
    prepare: async (send, isSending = false) => {
      const known = sends.get(send.sendId);
      if (known !== undefined) throw misuse('send', send.sendId, 'prepared', known.state);
      const preparedAtMs = clock.now();
      sends.set({ seq: ++seq, preparedAtMs, ...newSendState(isSending), ...send });
    },
    final: async (send, isSending = false) => {
      const was = sends.get(send.sendId);
      if (was?.state !== 'prepared') throw misuse('send', send.sendId, 'made final', was?.state);
      sends.set({ ...was, ...send, ...newSendState(isSending, was.attempts) });
    },
    sending: async (sendId) =>
      changeSend(sendId, 'sent', (was) => ({
        ...was,
        state: 'sending',
        attempts: was.attempts + 1,
      })),
    unsent: async (sendId) => {
      const was = sends.get(sendId);
      if (was?.state !== 'sending') throw misuse('send', sendId, 'given back', was?.state);
      sends.set({ ...was, state: 'prepared' });
    },
    shown: async (sendId, shown) => changeSend(sendId, 'shown', (was) => ({ ...was, shown })),
    endSend: async (sendId, end) => {
      changeSend(sendId, end.state, (was) => ({ ...was, ...end, endedAtMs: clock.now() }));
      const { correlationId = '' } = sends.get(sendId) ?? {};
      if (updates.get(correlationId) === undefined) endedSends.add(sendId);
    },
    dispatched: (dispatch) => {
      dispatches.set({ ...dispatch, seq: ++counted.dispatches });
      if (dispatches.size > keepRows) dispatches.dropFirst(Math.max(1, keepRows >> 3)); // many at once cost as much as one
    },
    retry: async (eventId) => {
      const was = updates.get(eventId);
      if (was?.state !== 'dead') return false;
      const again = (row: UpdateRecord, mark: Partial<UpdateRecord>): void => {
        const { endedAtMs: _at, outcome: _outcome, reason: _reason, ...rest } = row;
        updates.set({ ...rest, state: 'accepted', attempts: 0, ...mark });
        endedUpdates.delete(row.eventId);
      };
      again(was, { retriedAfterSeq: seq });
      for (const one of [...updates.values()])
        if (one.state === 'dead' && one.outcome === 'joined')
          if (one.reason === joinedReason(eventId)) again(one, { joinedTo: eventId });
      return true;
    },
    purge: async (eventId) => {
      const dead = [...updates.values()].filter(
        (one) => one.state === 'dead' && (eventId ?? one.eventId) === one.eventId,
      );
      for (const { body: _, ...one } of dead) updates.set({ ...one, state: 'ended' });
      return dead.length;
    },
    updates: async (filter = {}) => {
      const { states, lane, withoutBody = false, correlationId, eventId = correlationId } = filter;
      const isOpen = states?.every((state) => includes(openUpdates, state)) ?? false;
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
      const isOpen = states?.every((state) => includes(openSends, state)) ?? false;
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
    counts: async () => {
      const counts = {
        updates: { accepted: 0, handling: 0, dead: 0 },
        sends: { prepared: 0, sending: 0 },
      };
      for (const { state } of updates.values()) if (state !== 'ended') counts.updates[state]++;
      for (const { state } of sends.values())
        if (state === 'prepared' || state === 'sending') counts.sends[state]++;
      return counts;
    },
    changedOutside: () => false,
    problem: () => undefined,
    stats: () => ({ ...counted }),
    close: async () => undefined,
  };
}

function includes(states: readonly string[], state: string): boolean {
  return states.includes(state);
}

function misuse(
  what: 'update' | 'send',
  id: string,
  wanted: string,
  state: string | undefined,
): SluiceError {
  return hostError('journal-state', { what, id, wanted, state: state ?? 'not known' });
}
