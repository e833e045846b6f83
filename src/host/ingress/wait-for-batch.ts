import { longestBatchWait } from '../lanes/message-batches.js';
import type { Place } from '../lanes/slots.js';
import type { HostParts } from '../parts/parts.js';
import { laneOf } from './decode-update.js';
import { batchOf, joiningKeyOf, type MessageBatch } from './message-batch.js';
import type { ReceivedUpdate } from './received-update.js';

/**
 * Lets a message wait in its lane for the messages that join it (durability §10). It has not begun, so it leaves its slot to others,
 * and no reload waits for it.
 *
 * @returns the update with those that join it; nothing if its account went meanwhile. Never rejects: if the journal cannot be
 *   read, none joins.
 */
export async function waitForBatch(
  parts: HostParts,
  received: ReceivedUpdate,
  slot: Place,
): Promise<ReceivedUpdate | undefined> {
  const { batches, clock, gate, backlog, journal, accounts, logger } = parts;
  const { account, eventId } = received;
  /** Waits for a reading of the journal. If that fails, a message joins no other. */
  const orElse = <T>(reading: Promise<T>, otherwise: T): Promise<T> =>
    reading.catch((error: unknown) => {
      logger.error('a message joins no other: the journal could not be read', { eventId, error });
      return otherwise;
    });
  const key = await orElse(joiningKeyOf(parts, received), undefined);
  if (batches === undefined || key === undefined || received.joined !== undefined) return received;
  const [record] = await orElse(journal.updates({ eventId, withoutBody: true }), []);
  if (record?.state !== 'accepted' || record.retriedAfterSeq !== undefined) return received;
  const withinMs = batches.withinMs(account);
  const lane = laneOf(parts, account, received.decoded);
  const untilMs = clock.monotonicMs() + longestBatchWait * withinMs; // the time of day may jump
  using window = batches.open(lane, key);
  let batch: MessageBatch;
  const none = { members: [], isFull: true, isArriving: false, lastAtMs: record.acceptedAtMs };
  let hasLeft = false;
  for (;;) {
    batch = await orElse(batchOf(parts, { ...record, lane }, key), none);
    if (window.isClosed || batch.isFull) break;
    const isArriving = batch.isArriving || (backlog.lanes.get(lane)?.arriving ?? 0) > 0;
    const dueMs = Math.min(
      batch.lastAtMs + withinMs,
      record.acceptedAtMs + longestBatchWait * withinMs,
    );
    const leftMs = Math.min(dueMs - clock.now(), withinMs, untilMs - clock.monotonicMs());
    if (leftMs <= 0 && !isArriving) break;
    if (!hasLeft) {
      slot.leave();
      gate.leave();
      hasLeft = true;
    }
    await window.wait(leftMs > 0 ? leftMs : withinMs, { isForArrival: leftMs <= 0 });
  }
  if (hasLeft) {
    await slot.enter();
    await gate.enterWith(slot);
  }
  const held = parts.room.heldOf(eventId); // as long as the host lives, nobody else has it
  const now = accounts.find(account.channel.id, account.accountId) ?? held?.account;
  if (now === undefined) return undefined;
  const isStopped = window.isStopped;
  return {
    ...received,
    account: now,
    ...(batch.members.length > 0 && { joined: new Set(batch.members) }),
    ...(isStopped && { isStopped }),
  };
}
