import { isDeferredToNext } from '../ingress/begin-update.js';
import { runsAtOnce } from '../ingress/decode-update.js';
import type { HostParts } from '../parts/parts.js';
import { feed, hold, isCrowded, type Job, readLane } from './feeder.js';

/**
 * Claims an update before it is persisted, if nothing makes it wait: then the journal keeps it and its beginning with one
 * write.
 *
 * @returns whether its work has begun.
 */
export function admitNow(parts: HostParts, job: Job): boolean {
  const { backlog, conversationLanes } = parts;
  const { lane } = job;
  const { isBehind, blocked, lanes, arrivingIn } = backlog;
  const isNext = !isBehind && ![blocked, lanes, arrivingIn].some((one) => one.has(lane));
  if (!isNext || runsAtOnce(lane) || isDeferredToNext(parts) || isCrowded(parts)) return false;
  return hold(parts, job, (inOrder) => conversationLanes.runNow(lane, inOrder));
}

/**
 * Claims an update that the journal has just kept, if it is next in its conversation and few others wait. Otherwise
 * the update is parked: it stays in the journal.
 *
 * @param mayPark the update may be parked although no update of its conversation is, so that its channel need not wait.
 */
export function admit(parts: HostParts, job: Job, mayPark: boolean): void {
  const { backlog, counts, journal } = parts;
  const { lane } = job;
  const known = backlog.lanes.get(lane);
  if (runsAtOnce(lane)) {
    hold(parts, job);
    return;
  }
  if (backlog.blocked.has(lane)) {
    counts.parked++; // the update is read with the one that blocks it
    return;
  }
  const hasOthers = journal.ownership.partitionCount > 1;
  if (known !== undefined && (known.hasMore || mayPark || hasOthers)) {
    known.hasMore = true;
    known.hasGrown = true;
  } else if (known === undefined && (backlog.isBehind || (mayPark && isCrowded(parts)))) {
    backlog.isBehind = true;
    backlog.hasGrown = true;
  } else if (known === undefined && hasOthers) {
    readLane(parts, lane); // here, as above, another host may have taken one in before it
    return;
  } else {
    hold(parts, job);
    return;
  }
  counts.parked++;
  void feed(parts);
}

/** Claims the next update of a conversation that waited for the share of its sender, once that has left its lane. */
export function claimParked(parts: HostParts, lane: string): void {
  const { backlog, conversationLanes } = parts;
  setImmediate(() => {
    if (backlog.lanes.has(lane) || !conversationLanes.isIdle(lane)) return; // those are before it: the next look frees it
    backlog.blocked.delete(lane);
    readLane(parts, lane);
  });
}
