import type { SendRecord, UpdateHold } from '@sluice/journal';
import type { Place } from '../lanes/slots.js';
import type { HeldParts, HostParts } from '../parts/parts.js';
import { beginUpdate, giveBack, isLeftToNext } from './begin-update.js';
import { carryToEnd } from './carry-update.js';
import { laneOf } from './decode-update.js';
import { endUpdate } from './end-update.js';
import { joinUpdates } from './join-updates.js';
import type { TakenUpdate, Worked } from './taken-update.js';

/** As `handleUpdate`, of an update that was begun by the write that has kept it. */
export function handleBegun(
  parts: HostParts,
  taken: TakenUpdate,
  hold: UpdateHold,
  how: Parameters<typeof handleUpdate>[2],
): Promise<Worked> {
  parts.backlog.begun.set(taken.eventId, hold);
  if (!isLeftToNext(parts)) return handleUpdate(parts, taken, how);
  return giveBack(parts, hold).then(() => 'done');
}

/**
 * Handles an update whose turn has come, to its end. It is begun first: whatever it ends this process by, it is known to
 * have run. One that the journal fails is left as it is, and tried again later.
 *
 * @param how.earlier the sends that it made when it was handled before.
 */
export async function handleUpdate(
  parts: HostParts,
  taken: TakenUpdate,
  how: { readonly place: Place; readonly earlier: readonly SendRecord[] },
): Promise<Worked> {
  const { eventId } = taken;
  if (isLeftToNext(parts)) return 'done';
  tellTurn(parts, taken);
  if (await isSuspended(parts, taken)) return 'done';
  const joining = parts.joins && (await joinUpdates(parts, taken, how.place));
  if (parts.joins !== undefined && (joining === undefined || isLeftToNext(parts))) return 'done';
  const whole = joining ?? taken;
  const { joined } = whole;
  const beginning = joined ? beginJoined(parts, eventId, joined) : beginUpdate(parts, eventId);
  const held = await beginning;
  if (held === undefined) return 'held up';
  using _sends = parts.outbox.open(eventId, how.earlier);
  const place = countedPlace(held, eventId, how.place);
  const end = await carryToEnd(held, whole, place);
  if (place.isLost === true) return 'held up';
  return endUpdate(held, whole, end);
}

/** Records that the turn of an update has come in the lane of its conversation. */
function tellTurn(
  parts: HostParts,
  { eventId, account, decoded, receivedAtMs }: TakenUpdate,
): void {
  parts.way.record(() => ({
    ...{ kind: 'lane', of: 'conversation', id: eventId, correlationId: eventId },
    lane: laneOf(parts, account, decoded),
    waitedMs: Math.max(0, parts.clock.now() - receivedAtMs),
  }));
}

/** Begins an update with those that join it. @returns as `beginUpdate`. */
async function beginJoined(
  parts: HostParts,
  eventId: string,
  joined: ReadonlySet<TakenUpdate>,
): Promise<HeldParts | undefined> {
  const { joins, backlog } = parts;
  const ids = [...joined].map((one) => one.eventId);
  const hadJoined = backlog.begun.has(eventId);
  if (!hadJoined) joins?.claim(ids);
  const held = await beginUpdate(parts, eventId, ids);
  if (held === undefined) for (const id of ids) joins?.forget(id);
  return held;
}

/** Puts a job off whose extension went while it waited in its lane: it waits for its account. @returns whether it does. */
async function isSuspended(
  parts: HostParts,
  { eventId, account, decoded }: TakenUpdate,
): Promise<boolean> {
  const { accounts, backlog, journal } = parts;
  if (!journal.outlivesHost || decoded.kind !== 'job') return false;
  if (accounts.find(account.channel.id, account.accountId) !== undefined) return false;
  backlog.waiting.add(eventId);
  const hold = backlog.begun.get(eventId);
  if (hold !== undefined) await giveBack(parts, hold);
  return true;
}

/**
 * The place of an update that is kept. While it waits for its session or its agent it runs nothing, so what ends the host
 * meanwhile is not counted against it (durability §7.7).
 */
function countedPlace(parts: HeldParts, eventId: string, place: Place): Place {
  const hold = { ...parts.hold, eventId };
  let givenBack: Promise<boolean> | undefined;
  const counted = {
    isLost: false,
    leave: (isForPerson?: boolean) => {
      place.leave(isForPerson);
      givenBack = giveBack(parts, hold);
    },
    enter: async () => {
      await place.enter();
      if (parts.signal.aborted || counted.isLost) return; // it ends here, and is not counted
      if ((await givenBack) === false)
        parts.backlog.begun.set(eventId, hold); // it is still counted
      else if ((await beginUpdate(parts, eventId)) === undefined) {
        counted.isLost = true;
        throw new Error('it waited, and could not be begun again: it is taken up later');
      }
    },
    putOff: () => {
      counted.isLost = true;
    },
  };
  return counted;
}
