import type { UpdateRecord } from '@sluice/journal';
import { mayPass } from '@sluice/journal/internal';
import { getOrMake } from 'sluice-kernel/internal';
import { isDeferredToNext } from '../ingress/begin-update.js';
import type { Worked } from '../ingress/received-update.js';
import {
  type ActiveLane,
  type Cursor,
  fewestRows,
  newCursor,
  notifyIdle,
  patrolEveryMs,
} from '../lanes/backlog.js';
import type { Place } from '../lanes/slots.js';
import type { HostParts } from '../parts/parts.js';
import { resumeUpdate } from '../recovery/resume.js';
import { isDamageReported, isOwn, isPassed, laneOfRow, mayBegin, readOpen } from './open-rows.js';
import { type Held, type InPlace, releasing, takePlace } from './places.js';

// The journal is the queue. A lane of which nothing is held asks the journal for its next update. The lanes of which the host knows
// nothing are found by a cursor, which meets open updates in the order of their coming, as long as few wait (durability §8.8).

/** Rows that are read at a time, at most: a few milliseconds. */
const mostRows = 1_000;

/** Has the journal read from its first row, for open updates that are not active. Resolves when those that may run next are. */
export async function rewind(parts: HostParts): Promise<void> {
  parts.backlog.cursor = newCursor();
  parts.backlog.isBehind = true;
  await feed(parts);
}

/** Claims the updates behind the cursor, as long as few wait. Never rejects. */
export async function feed(parts: HostParts): Promise<void> {
  const { backlog, logger } = parts;
  if (backlog.isReading || !backlog.isBehind) return;
  backlog.isReading = true;
  try {
    while (backlog.isBehind && !isDeferredToNext(parts) && !isCrowded(parts)) {
      const { cursor } = backlog;
      const isDone = await readOn(parts, cursor);
      if (isDone && cursor === backlog.cursor && !cursor.hasGrown) backlog.isBehind = false;
      await new Promise(setImmediate); // a long backlog does not block the event loop
    }
  } catch (error) {
    logger.error('the journal could not be read', { error });
    backlog.isToRewind = true;
    backlog.isBehind = false;
  } finally {
    backlog.isReading = false;
    notifyIdle(backlog);
  }
}

/**
 * Looks now and then at the next few open updates, round and round, for those that no reading came to. A commit whose answer was lost may
 * be persisted long after it counted as failed: the update is open then, and nothing tells of it. One look costs the same however many
 * are open.
 *
 * @throws what the journal throws.
 */
export async function patrol(parts: HostParts): Promise<void> {
  const { backlog, clock } = parts;
  if (backlog.isBehind || clock.monotonicMs() < backlog.nextPatrolMs) return;
  backlog.nextPatrolMs = clock.monotonicMs() + patrolEveryMs;
  if (await readOn(parts, backlog.patrol)) backlog.patrol.afterSeq = 0;
}

/** Reads the next rows behind a cursor, and meets them. @returns whether none are behind them; not if the cursor was given up. */
async function readOn(parts: HostParts, cursor: Cursor): Promise<boolean> {
  const { backlog } = parts;
  const isPatrol = cursor === backlog.patrol;
  cursor.hasGrown = false;
  const { afterSeq, limit } = cursor;
  const { rows, areLast } = await readOpen(parts, { afterSeq, limit });
  if (!isPatrol && cursor !== backlog.cursor) return false;
  for (const row of rows) {
    cursor.limit = fewestRows;
    if (isCrowded(parts)) return false;
    cursor.afterSeq = row.seq;
    if (!isPassed(parts, row)) meet(parts, row, isPatrol);
  }
  const isPassedOver = !isPatrol && rows.length === limit;
  if (isPassedOver) cursor.limit = Math.min(2 * limit, mostRows); // new conversations wait until all are
  return areLast && !cursor.hasGrown;
}

/**
 * Returns whether the host claims no more updates for now: as many wait as may run, or the host is full of updates that have begun and
 * wait for their session or for their agent.
 */
export function isCrowded({ running, backlog, room }: HostParts): boolean {
  const active = backlog.held + backlog.turns.size;
  return running.waiting + backlog.asking >= running.limit || active >= room.rules.capacity;
}

/** Claims an update if its lane is free. Otherwise the lane asks for it. */
function meet(parts: HostParts, row: UpdateRecord, isPatrol: boolean): void {
  const { backlog, logger } = parts;
  const { eventId, channel, accountId } = row;
  const lane = laneOfRow(parts, row);
  if (lane === undefined && !isPatrol && isOwn(parts, row)) {
    const about = { eventId, channel, accountId };
    logger.warn('an update waits for its account, which does not run', about);
  }
  if (lane === undefined || backlog.blocked.has(lane)) return;
  const known = backlog.lanes.get(lane);
  if (known === undefined) {
    if (mayBegin(parts, lane, row)) claim(parts, lane, row);
    return;
  }
  known.hasMore = true;
  known.hasUnnamed ||= row.lane === undefined;
}

/** Tries a lane again that was blocked, or that no reading came to. */
export function unblock(parts: HostParts, lane: string): void {
  const { backlog } = parts;
  backlog.blocked.delete(lane);
  laneIn(backlog.lanes, lane).hasMore = true;
  void goOn(parts, lane);
}

/**
 * Claims the next message of a lane whose turn has come. While extensions are replaced it gives its turn up, with those behind it, since
 * one that has begun may need its places: a reading comes to them again, as it comes to others, when there is room.
 */
export function takeTurn(parts: HostParts, lane: string): void {
  const { backlog, gate } = parts;
  if (gate.isOpen) {
    unblock(parts, lane);
    return;
  }
  let isUnknown = false;
  for (const one of backlog.turns.giveUpSession(lane)) {
    backlog.blocked.delete(one);
    const known = backlog.lanes.get(one);
    if (known !== undefined) known.hasMore = true; // a reading passes over it as long as it is held
    isUnknown ||= known === undefined;
  }
  if (isUnknown) void rewind(parts);
}

/**
 * Tries the lanes again that were blocked, but for those that wait for a person or for a place.
 *
 * @param hasStarted an account was started: those that wait for one are tried, too.
 */
export function unblockAll(parts: HostParts, hasStarted = false): void {
  const { backlog, approvals } = parts;
  const tried = hasStarted ? ['blocked', 'no-account'] : ['blocked'];
  for (const [lane, why] of [...backlog.blocked])
    if (tried.includes(why) && !approvals.blocks(lane)) unblock(parts, lane);
}

/** Claims the next update of a lane of which nothing is held. A lane with none is forgotten. Never rejects. */
export async function goOn(parts: HostParts, lane: string): Promise<void> {
  const { backlog } = parts;
  const known = laneIn(backlog.lanes, lane);
  if (known.isHeld) return;
  const { hasUnnamed } = known;
  if (hasUnnamed) Object.assign(known, { hasMore: false, hasUnnamed: false });
  known.isHeld = true; // until an update is claimed, or none is left: what comes meanwhile sets `hasMore`
  let row: UpdateRecord | undefined;
  while (known.hasMore && row === undefined) {
    row = await nextOf(parts, lane, known); // more may have come since it read
    if (known.arriving > 0 || backlog.blocked.has(lane) || isDeferredToNext(parts)) break; // an arrival asks again
  }
  if (row !== undefined) claim(parts, lane, row);
  else {
    known.isHeld = false;
    if (backlog.blocked.get(lane) !== 'parked') backlog.turns.giveUp(lane); // it has none that could take its turn
    if (known.arriving === 0) backlog.lanes.delete(lane);
  }
  await (hasUnnamed ? rewind(parts) : feed(parts));
  notifyIdle(backlog);
}

/** Asks the journal for the oldest open update of a lane that is held, and may begin. Never rejects. */
async function nextOf(
  parts: HostParts,
  lane: string,
  known: ActiveLane,
): Promise<UpdateRecord | undefined> {
  const { backlog, logger } = parts;
  backlog.asking++;
  try {
    while (known.hasMore && !backlog.blocked.has(lane) && !isDeferredToNext(parts)) {
      known.hasMore = false; // until more comes
      let row: UpdateRecord | undefined;
      for (let afterSeq = 0, areLast = false; row === undefined && !areLast; ) {
        const read = await readOpen(parts, { lane, afterSeq, limit: 2 });
        row = read.rows.find((one) => !isPassed(parts, one));
        ({ areLast } = read);
        afterSeq = read.rows.at(-1)?.seq ?? afterSeq;
      }
      if (row === undefined || laneOfRow(parts, row) === undefined) continue;
      if (!mayBegin(parts, lane, row)) continue;
      known.hasMore = true;
      return backlog.arriving.has(row.eventId) ? undefined : row; // else its arrival asks again
    }
  } catch (error) {
    logger.error('the journal could not be read', { error });
    backlog.blocked.set(lane, 'blocked'); // more of it waits in the journal
  } finally {
    backlog.asking--;
  }
  return undefined;
}

/** Claims an update of the journal. Its row is read again when its turn comes, so that no body is held while it waits. */
function claim(parts: HostParts, lane: string, row: UpdateRecord): void {
  const { eventId, attempts, slot = 0 } = row;
  const { counts, options, backlog, logger } = parts;
  const { maxAttempts = 3 } = options.journal;
  counts.resumed++;
  laneIn(backlog.lanes, lane).isHeld = true;
  let isOnly = true;
  const job = async (place: Place): Promise<Worked> => {
    try {
      return await resumeUpdate(parts, eventId, { place, isOnly });
    } catch (error) {
      if (isDamageReported(parts, error)) return 'done';
      logger.error('what the journal holds could not be claimed', { eventId, error });
      if (mayPass(error)) return 'blocked';
      backlog.damaged.add(row.seq); // another try would end the same way: this host does not make it
      return 'done';
    }
  };
  const held = { eventId, lane, slot };
  const run = (inPlace: InPlace) => takePlace(parts, held, inPlace);
  const isSuspect = attempts > 0 && maxAttempts > 1;
  void work(parts, held, job, (inPlace) =>
    isSuspect
      ? backlog.crashSuspects.run(attempts, (suspect) => {
          isOnly = suspect.isOnly && !backlog.isBehind; // there may be others that were not read yet
          return run((place) => {
            suspect.begin();
            return inPlace(releasing(place, suspect.release));
          });
        })
      : run(inPlace),
  );
}

/** Does the work of an update whose lane is held for it, and lets the lane go on. Never rejects. */
export async function work(
  parts: HostParts,
  { eventId, lane, slot }: Held,
  job: (place: Place) => Promise<Worked>,
  run: (inPlace: InPlace) => Promise<void>,
): Promise<void> {
  const { backlog, active, logger, journal, room } = parts;
  const lost = journal.ownership.fenceOf(slot)?.signal ?? AbortSignal.abort();
  active.add(eventId);
  try {
    using _turn = backlog.turns.of(lane);
    await run(async (place) => {
      if (lost.aborted || !isOwn(parts, { slot })) return; // another host has taken the partition meanwhile
      const worked = await job(place);
      if (worked !== 'done') backlog.blocked.set(lane, worked);
    });
  } catch (error) {
    logger.error('a message failed', { error });
  }
  if (!parts.signal.aborted) active.delete(eventId); // else it is open, and not handled again here
  if (backlog.begun.get(eventId)?.signal.aborted === true) backlog.begun.delete(eventId);
  if (lost.aborted) backlog.suspended.delete(eventId);
  if (room.heldOf(eventId) === undefined) room.leave(eventId);
  backlog.isToRewind ||= lost.aborted; // readings have passed over it, also since the partition came back
  laneIn(backlog.lanes, lane).isHeld = false;
  await goOn(parts, lane);
}

/** A lane, which is known from now on. */
export function laneIn(lanes: HostParts['backlog']['lanes'], lane: string): ActiveLane {
  const made = { arriving: 0, isHeld: false, hasMore: false, hasUnnamed: false };
  return getOrMake(lanes, lane, () => made);
}
