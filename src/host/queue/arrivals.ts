import { isDeferredToNext } from '../ingress/begin-update.js';
import { runsAtOnce } from '../ingress/decode-update.js';
import type { Worked } from '../ingress/received-update.js';
import type { HeldUpdate } from '../lanes/room.js';
import { type Place, placeOf } from '../lanes/slots.js';
import type { HostParts } from '../parts/parts.js';
import { feed, goOn, isCrowded, laneIn, work } from './feeder.js';
import { type Held, leavePlace, takePlaceNow } from './places.js';

/** Notes that an update of a lane is being written down: before that is done, no reading claims it. */
export function arrive({ backlog }: HostParts, { eventId, lane }: Held): void {
  backlog.arriving.add(eventId);
  laneIn(backlog.lanes, lane).arriving++;
}

/**
 * An update of a lane was written down, or could not be.
 *
 * @param isWaiting it waits in the journal: its lane asks for it, or the cursor comes to it.
 */
export function arrived(parts: HostParts, { eventId, lane }: Held, isWaiting: boolean): void {
  const { backlog, counts, journal, room } = parts;
  const known = laneIn(backlog.lanes, lane);
  backlog.arriving.delete(eventId);
  known.arriving--;
  const isBlocked = backlog.blocked.has(lane);
  const isFirst = !known.isHeld && !known.hasMore && !isBlocked;
  const isAsked = runsAtOnce(lane) || journal.ownership.partitionCount > 1; // whatever else waits
  const isLeft = isFirst && !isAsked && (backlog.isBehind || isCrowded(parts));
  if (isWaiting && isLeft) {
    backlog.isBehind = true;
    backlog.cursor.hasGrown = true;
  } else if (isWaiting) known.hasMore = true;
  if (isWaiting && (isLeft || !isFirst) && !room.has(eventId)) counts.parked++;
  if (!known.isHeld) void goOn(parts, lane);
  void feed(parts);
}

/**
 * Holds a lane for an update that is yet to be written down, with a place, if it waits for nothing: then the journal keeps it and its
 * beginning with one write. `workNow` or `unhold` follows.
 */
export function holdNow(parts: HostParts, lane: string): boolean {
  const { backlog } = parts;
  const known = laneIn(backlog.lanes, lane);
  const isFirst = known.arriving === 1 && !known.isHeld && !known.hasMore;
  const isNext = isFirst && !backlog.isBehind && !backlog.blocked.has(lane);
  if (!isNext || runsAtOnce(lane) || isDeferredToNext(parts) || isCrowded(parts)) return false;
  known.isHeld = takePlaceNow(parts);
  return known.isHeld;
}

/** Gives up what `holdNow` took: the update has not begun. */
export function unhold(parts: HostParts, lane: string): void {
  laneIn(parts.backlog.lanes, lane).isHeld = false;
  leavePlace(parts);
}

/**
 * Does the work of an update in the place that `holdNow` took. Never rejects.
 *
 * @param itself the update, if the journal does not have its body: it may have to wait yet.
 */
export function workNow(
  parts: HostParts,
  held: Held,
  itself: HeldUpdate | undefined,
  job: (place: Place) => Promise<Worked>,
): Promise<void> {
  parts.room.enter(held.eventId, held.lane, itself);
  return work(parts, held, job, (inPlace) =>
    inPlace(placeOf(parts.running)).finally(() => leavePlace(parts)),
  );
}
