import type { SendRecord } from '../journal/journal.js';
import type { Place } from '../lanes/slots.js';
import type { HostParts } from '../parts/parts.js';
import { beginUpdate, giveBack, isLeftToNext } from './begin-update.js';
import { carryToEnd } from './carry-update.js';
import { laneOf } from './decode-update.js';
import { endUpdate } from './end-update.js';
import { joinUpdates } from './join-updates.js';
import type { TakenUpdate } from './taken-update.js';

/** `held up`: it could not be begun. What comes after it in its conversation waits, too. */
export type Worked = 'done' | 'held up';

/** As `handleUpdate`, of an update that was begun by the write that has kept it. */
export function handleBegun(
  parts: HostParts,
  taken: TakenUpdate,
  how: Parameters<typeof handleUpdate>[2],
): Promise<Worked> {
  const { eventId } = taken;
  parts.backlog.begun.add(eventId);
  if (!isLeftToNext(parts)) return handleUpdate(parts, taken, how);
  return giveBack(parts, eventId).then(() => 'done');
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
  if (!(await beginning)) return 'held up';
  using _sends = parts.outbox.open(eventId, how.earlier);
  const place = countedPlace(parts, eventId, how.place);
  const end = await carryToEnd(parts, whole, place);
  if (place.isLost === true) return 'held up';
  await endUpdate(parts, whole, end);
  return 'done';
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

/** Begins an update with those that join it. @returns whether it has begun. */
async function beginJoined(
  parts: HostParts,
  eventId: string,
  joined: ReadonlySet<TakenUpdate>,
): Promise<boolean> {
  const { joins, backlog } = parts;
  const ids = [...joined].map((one) => one.eventId);
  if (backlog.begun.has(eventId)) return true; // they had joined it before
  joins?.claim(ids);
  const isBegun = await beginUpdate(parts, eventId, ids);
  if (!isBegun) for (const id of ids) joins?.forget(id);
  return isBegun;
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
  if (backlog.begun.has(eventId)) await giveBack(parts, eventId);
  return true;
}

/**
 * The place of an update that is kept. While it waits for its session or its agent it runs nothing, so what ends the host
 * meanwhile is not counted against it (durability §7.7).
 */
function countedPlace(parts: HostParts, eventId: string, place: Place): Place {
  let isLost = false;
  let givenBack: Promise<boolean> | undefined;
  return {
    get isLost() {
      return isLost;
    },
    leave: (isForPerson) => {
      place.leave(isForPerson);
      givenBack = giveBack(parts, eventId);
    },
    enter: async () => {
      await place.enter();
      if (parts.signal.aborted || isLost) return; // it ends here, and is not counted
      if ((await givenBack) === false)
        parts.backlog.begun.add(eventId); // it is still counted
      else if (!(await beginUpdate(parts, eventId))) {
        isLost = true;
        throw new Error('it waited, and could not be begun again: it is taken up later');
      }
    },
    putOff: () => {
      isLost = true;
    },
  };
}
