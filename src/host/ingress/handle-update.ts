import type { SendRecord, UpdateFence } from '@sluice/journal';
import type { Place } from '../lanes/slots.js';
import type { FencedParts, HostParts } from '../parts/parts.js';
import { reportLane } from '../timeline/report-update.js';
import { alreadyBegun, beginUpdate, isDeferredToNext, releaseUpdate } from './begin-update.js';
import { carryToEnd } from './carry-update.js';
import { besideLane, laneOf, runsAtOnce, senderOf } from './decode-update.js';
import { endUpdate } from './end-update.js';
import type { ReceivedUpdate, Worked } from './received-update.js';
import { suspendUpdate } from './suspend-update.js';
import { waitForBatch } from './wait-for-batch.js';

/** As `handleUpdate`, for an update that the journal has kept and begun with one write. */
export function handleBegun(
  parts: HostParts,
  received: ReceivedUpdate,
  fence: UpdateFence,
  how: Parameters<typeof handleUpdate>[2],
): Promise<Worked> {
  parts.backlog.begun.set(received.eventId, fence);
  if (!isDeferredToNext(parts)) return handleUpdate(parts, received, how);
  return releaseUpdate(parts, fence).then(() => 'done');
}

/**
 * Handles an update whose turn has come, to its end. It is begun first: whatever it ends this process by, it is known to
 * have run. One that the journal fails is left as it is, and tried again later.
 *
 * @param how.earlier the sends that it made when it was handled before.
 */
export async function handleUpdate(
  parts: HostParts,
  received: ReceivedUpdate,
  how: { readonly place: Place; readonly earlier: readonly SendRecord[] },
): Promise<Worked> {
  const { eventId, account, decoded, receivedAtMs } = received;
  const { batches, backlog, outbox, clock } = parts;
  if (isDeferredToNext(parts)) return 'done';
  const lane = laneOf(parts, account, decoded);
  const sender = senderOf(received);
  using shared = parts.shares.placeOf(sender, how.place);
  if (shared?.takeNow(backlog.begun.has(eventId) || backlog.turns.hasCome(lane)) === false)
    return parkForShare(parts, lane, sender);
  const waitedMs = () => Math.max(0, clock.now() - receivedAtMs);
  reportLane(parts, 'conversation', eventId, lane, waitedMs);
  if (lacksAccount(parts, received)) {
    const fence = backlog.begun.get(eventId);
    if (fence !== undefined) await releaseUpdate(parts, fence);
    return 'no-account';
  }
  const own = shared ?? how.place;
  const whole = batches === undefined ? received : await waitForBatch(parts, received, own);
  if (whole === undefined) return 'no-account';
  if (batches !== undefined && isDeferredToNext(parts)) return 'done';
  const joined = whole.joined && [...whole.joined].map((one) => one.eventId);
  const { attempt = 1 } = received;
  const fenced =
    alreadyBegun(parts, eventId) ?? (await beginUpdate(parts, eventId, attempt, joined));
  if (fenced === undefined) return 'blocked';
  using _sends = outbox.open(eventId, how.earlier);
  const end = await carryToEnd(fenced, whole, countedPlace(fenced, received, own, lane));
  if (runsAtOnce(lane)) batches?.close(besideLane(received) ?? '');
  if (fenced.suspension?.isSuspended) return await suspendUpdate(fenced, whole, own);
  return await endUpdate(fenced, whole, end); // until then the message counts in the share of its sender
}

/** Leaves an update in the journal until its sender has a place of his share: it takes no memory meanwhile. */
function parkForShare({ backlog, shares }: HostParts, lane: string, sender = ''): Worked {
  backlog.blocked.set(lane, 'parked'); // before anybody is told that there is room
  shares.park(sender, lane);
  return 'done';
}

/** Returns whether the extension of a job went while the job waited in its lane: then it waits for its account. */
function lacksAccount(
  { accounts, room }: HostParts,
  { eventId, account, decoded }: ReceivedUpdate,
): boolean {
  if (decoded.kind !== 'job' || room.heldOf(eventId) !== undefined) return false;
  return accounts.find(account.channel.id, account.accountId) === undefined;
}

/**
 * The place of an update that is persisted. While it waits for its session or its agent it runs nothing, so what ends the host
 * meanwhile is not counted against it (durability §7.7).
 */
function countedPlace(
  parts: FencedParts,
  { eventId, attempt = 1 }: ReceivedUpdate,
  place: Place,
  lane: string,
): Place {
  const fence = { ...parts.fence, eventId };
  const { suspension } = parts;
  let released: Promise<boolean> | undefined;
  return {
    leave: (isForPerson?: boolean) => {
      place.leave(isForPerson);
      released = releaseUpdate(parts, fence);
    },
    enter: async () => {
      await place.enter();
      if (parts.signal.aborted || suspension?.isSuspended) return; // it ends here, and is not counted
      if ((await released) === false)
        parts.backlog.begun.set(eventId, fence); // it is still counted
      else if ((await beginUpdate(parts, eventId, attempt)) === undefined) {
        const why = new Error('it waited, and could not be begun again: it is claimed later');
        suspension?.suspend(why);
        throw why;
      }
    },
    defer: (why = new Error('it is left to the next host')) => suspension?.suspend(why),
    ...(attempt === 1 && !runsAtOnce(lane) && { lane }), // a crash suspect would keep the place of its turn too long
  };
}
