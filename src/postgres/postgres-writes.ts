import type { Journal } from '@sluice/journal';
import {
  type Changing,
  isRefusedForGood,
  type NeededRows,
  writtenChanges,
} from '@sluice/journal/internal';
import type { OwnPartitions } from './members/own-partitions.js';
import type { PostgresBatches } from './postgres-batches.js';

/** The rows that each change looks at, by its arguments. */
const needs: {
  readonly [Name in Changing]: (...args: Parameters<Journal[Name]>) => NeededRows;
} = {
  accept: ({ eventId, lane = '' }, isBegun, most) => ({
    updates: [eventId],
    ...((isBegun === true || most !== undefined) && { lane: { key: lane, most } }),
  }),
  begin: (eventId, joined = []) => ({ updates: [eventId, ...joined] }),
  release: ({ eventId }) => ({ updates: [eventId] }),
  endUpdate: ({ eventId }) => ({ updates: [eventId] }),
  retry: (eventId) => ({ updates: [eventId], isOfDead: true, isAlone: true }),
  purge: (eventId = '') => ({ updates: [eventId], isOfDead: true, isAlone: true }),
  prepare: (_, { sendId }) => ({ sends: [sendId] }),
  final: (_, { sendId }) => ({ sends: [sendId] }),
  sending: (_, sendId) => ({ sends: [sendId] }),
  unsent: (_, sendId) => ({ sends: [sendId] }),
  shown: (_, sendId) => ({ sends: [sendId] }),
  endSend: (_, sendId) => ({ sends: [sendId] }),
};

/** Makes the changes of a journal: each is one write of the batches. */
export function postgresChanges(batches: PostgresBatches): Pick<Journal, Changing> {
  return writtenChanges((run, name, args) => {
    const neededBy = needs[name] as (...args: readonly unknown[]) => NeededRows; // it gets the arguments of its own change
    return batches.write(run, neededBy(...args));
  });
}

/** The changes of a host, which count the updates and sends of each part that it handles. */
export function countedChanges(
  changes: Pick<Journal, Changing>,
  work: Pick<OwnPartitions, 'begun' | 'ended'>,
): Pick<Journal, Changing> {
  return {
    ...changes,
    accept: async (update, isBegun, mostOpen) => {
      const accepted = await changes.accept(update, isBegun, mostOpen);
      if (accepted.status === 'accepted') work.begun(accepted.fence, update.eventId, 1);
      return accepted;
    },
    begin: async (eventId, joined, attempt) => {
      const begun = await changes.begin(eventId, joined, attempt);
      work.begun(begun.fence, eventId, begun.attempts);
      return begun;
    },
    release: (fence) => changes.release(fence).finally(() => work.ended(fence, fence.eventId)),
    // an end that was not persisted is found by the host that has the partition then
    endUpdate: (fence, end) =>
      changes.endUpdate(fence, end).finally(() => work.ended(fence, fence.eventId)),
    prepare: async (fence, send, isSending) => {
      work.begun(fence, send.sendId);
      try {
        await changes.prepare(fence, send, isSending);
      } catch (error) {
        work.ended(fence, send.sendId);
        throw error;
      }
    },
    endSend: async (fence, sendId, end) => {
      try {
        await changes.endSend(fence, sendId, end);
      } catch (error) {
        if (end.state === 'sent' && !isRefusedForGood(error)) throw error; // the outbox tries again
        work.ended(fence, sendId);
        throw error;
      }
      work.ended(fence, sendId);
    },
  };
}
