import { type Clock, type SluiceError, systemClock } from '../../kernel/index.js';
import { hostError } from '../errors.js';
import {
  type DispatchRecord,
  defaultLimit,
  type Journal,
  type JournalFilter,
  openSends,
  openUpdates,
  type SendRecord,
  type UpdateRecord,
} from './journal.js';

/**
 * A journal in memory: gone with the process, and so no safer than none. For tests, and for hosts that want updates
 * that come twice to be handled once.
 */
export function memoryJournal({ clock = systemClock }: { readonly clock?: Clock } = {}): Journal {
  const updates = new Map<string, UpdateRecord>();
  const sends = new Map<string, SendRecord>();
  const dispatches: DispatchRecord[] = [];
  const counted = { accepted: 0, duplicates: 0, dispatchesDropped: 0, charactersWaiting: 0 };
  let seq = 0;

  const changeUpdate = (
    eventId: string,
    wanted: string,
    change: (was: UpdateRecord) => UpdateRecord,
  ): UpdateRecord => {
    const was = updates.get(eventId);
    if (was === undefined || !includes(openUpdates, was.state))
      throw misuse('update', eventId, wanted, was?.state);
    const is = change(was);
    updates.set(eventId, is);
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
    sends.set(sendId, change(was));
  };

  return {
    accept: async (update) => {
      const known = updates.get(update.eventId);
      if (known !== undefined) {
        counted.duplicates++;
        return { status: 'known', state: known.state, attempts: known.attempts };
      }
      counted.accepted++;
      const acceptedAtMs = clock.now();
      const record = {
        ...update,
        seq: ++seq,
        state: 'accepted',
        attempts: 0,
        acceptedAtMs,
      } as const;
      updates.set(update.eventId, record);
      return { status: 'accepted' };
    },
    begin: async (eventId) =>
      changeUpdate(eventId, 'begun', (was) => ({
        ...was,
        state: 'handling',
        attempts: was.attempts + 1,
      })).attempts,
    giveBack: async (eventId) => {
      const was = updates.get(eventId);
      if (was?.state !== 'handling') throw misuse('update', eventId, 'given back', was?.state);
      updates.set(eventId, { ...was, attempts: Math.max(0, was.attempts - 1) });
    },
    endUpdate: async (eventId, { isDead, ...end }) => {
      changeUpdate(eventId, 'ended', ({ body, ...was }) => ({
        ...was,
        ...end,
        ...(isDead && body !== undefined && { body }),
        state: isDead ? 'dead' : 'ended',
        endedAtMs: clock.now(),
      }));
    },
    prepare: async (send) => {
      const known = sends.get(send.sendId);
      if (known !== undefined) throw misuse('send', send.sendId, 'prepared', known.state);
      const preparedAtMs = clock.now();
      const record = { ...send, seq: ++seq, state: 'prepared', attempts: 0, preparedAtMs } as const;
      sends.set(send.sendId, record);
    },
    final: async (send) => {
      const was = sends.get(send.sendId);
      if (was?.state !== 'prepared') throw misuse('send', send.sendId, 'made final', was?.state);
      sends.set(send.sendId, { ...was, ...send });
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
      sends.set(sendId, { ...was, state: 'prepared' });
    },
    shown: async (sendId, shown) => changeSend(sendId, 'shown', (was) => ({ ...was, shown })),
    endSend: async (sendId, end) =>
      changeSend(sendId, end.state, (was) => ({ ...was, ...end, endedAtMs: clock.now() })),
    dispatched: (dispatch) => {
      dispatches.push({ ...dispatch, seq: dispatches.length + 1 });
    },
    retry: async (eventId) => {
      const was = updates.get(eventId);
      if (was?.state !== 'dead') return false;
      const { endedAtMs: _at, outcome: _outcome, reason: _reason, ...rest } = was;
      updates.set(eventId, { ...rest, state: 'accepted', attempts: 0 });
      return true;
    },
    purge: async (eventId) => {
      const dead = [...updates.values()].filter(
        (one) => one.state === 'dead' && (eventId ?? one.eventId) === one.eventId,
      );
      for (const { body: _, ...one } of dead) updates.set(one.eventId, { ...one, state: 'ended' });
      return dead.length;
    },
    updates: async (filter = {}) =>
      chosen(updates.values(), filter, ({ eventId, acceptedAtMs, state, lane }) => ({
        id: eventId,
        correlationId: eventId,
        atMs: acceptedAtMs,
        fits: (filter.states?.includes(state) ?? true) && (filter.lane ?? lane) === lane,
      })),
    sends: async (filter = {}) =>
      chosen(sends.values(), filter, ({ sendId, correlationId, preparedAtMs, state }) => ({
        id: sendId,
        correlationId,
        atMs: preparedAtMs,
        fits: filter.states?.includes(state) ?? true,
      })),
    dispatches: async (filter = {}) =>
      chosen(dispatches, filter, ({ eventId, correlationId, occurredAtMs, family }) => ({
        id: eventId,
        correlationId,
        atMs: occurredAtMs,
        fits: (filter.family ?? family) === family,
      })),
    changedOutside: () => false,
    problem: () => undefined,
    stats: () => ({ ...counted, dispatches: dispatches.length }),
    close: async () => undefined,
  };
}

interface Judged {
  readonly id: string;
  readonly correlationId: string | undefined;
  readonly atMs: number;
  readonly fits: boolean;
}

function chosen<Row extends { readonly seq: number }>(
  rows: Iterable<Row>,
  filter: JournalFilter,
  judge: (row: Row) => Judged,
): Row[] {
  const { eventId, correlationId, sinceMs = Number.NEGATIVE_INFINITY, afterSeq = 0 } = filter;
  const fitting = [...rows].filter((row) => {
    const one = judge(row);
    return (
      one.fits &&
      row.seq > afterSeq &&
      one.atMs >= sinceMs &&
      (eventId ?? one.id) === one.id &&
      (correlationId === undefined || correlationId === one.correlationId)
    );
  });
  return fitting.slice(0, Math.max(0, Math.trunc(filter.limit ?? defaultLimit)));
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
