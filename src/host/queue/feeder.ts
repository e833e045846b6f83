import type { UpdateRecord } from '@sluice/journal';
import { mayPass, openUpdates } from '@sluice/journal/internal';
import { getOrMake } from 'sluice-kernel/internal';
import { isDeferredToNext } from '../ingress/begin-update.js';
import { decodeUpdate, laneOf, runsAtOnce } from '../ingress/decode-update.js';
import { updateOf, type Worked } from '../ingress/received-update.js';
import { type ActiveLane, notifyIdle } from '../lanes/backlog.js';
import type { Place } from '../lanes/slots.js';
import type { HostParts } from '../parts/parts.js';
import { resumeUpdate } from '../recovery/resume.js';
import { isDamageReported, isFree, isOwed, isOwn, readOpen } from './open-rows.js';

// The journal is the queue. The host handles the updates that run, and as many as may run next. One reading of the journal
// claims the others: parked updates, updates that a host before this one left, and updates to try again (durability §8.8).

/** Rows that are read at a time. */
const page = 50;

/** An update, and the work to do when its turn has come. */
export interface Job {
  readonly eventId: string;
  readonly lane: string;
  readonly slot: number;
  readonly work: (place: Place) => Promise<Worked>;
}

/**
 * Reads the journal from its first row, for open updates that are not active. Resolves when the updates that may run next
 * are active. A journal that does not outlive its host is not read, since all its updates are active.
 */
export async function rewind(parts: HostParts): Promise<void> {
  const { backlog, journal } = parts;
  if (journal.acknowledge === 'ended') return;
  backlog.rewinds++;
  backlog.waiting.clear();
  backlog.afterSeq = 0;
  backlog.isBehind = true;
  await feed(parts);
}

/**
 * Lets the next reading claim the conversations that are blocked. A conversation with an update active stays blocked,
 * because that update came after the one that could not be begun (durability §6.6).
 */
export function freeBlocked(parts: HostParts): void {
  const { blocked, lanes } = parts.backlog;
  parts.backlog.freed = [...blocked].filter(
    (lane) => !lanes.has(lane) && parts.conversationLanes.isIdle(lane) && mayFree(parts, lane),
  );
  for (const lane of parts.backlog.freed) blocked.delete(lane);
}

/** Returns whether a conversation is blocked that the next reading may free. */
export function isBlocked(parts: HostParts): boolean {
  return [...parts.backlog.blocked].some((lane) => mayFree(parts, lane));
}

/** Another one is freed when a person has answered, or when its sender has a place. */
function mayFree({ approvals, shares }: HostParts, lane: string): boolean {
  return !approvals.blocks(lane) && !shares.blocks(lane);
}

/** Claims the next updates, as long as few wait. Never rejects. */
export async function feed(parts: HostParts): Promise<void> {
  const { backlog, logger } = parts;
  if (backlog.isReading || !backlog.isBehind) return;
  backlog.isReading = true;
  try {
    while (backlog.isBehind && !isDeferredToNext(parts) && !isCrowded(parts)) {
      const { afterSeq, rewinds } = backlog;
      backlog.hasGrown = false;
      const { rows, areLast } = await readOpen(parts, { afterSeq, limit: page });
      if (rewinds !== backlog.rewinds) continue;
      const isAllMet = rows.every((row) => meet(parts, row));
      if (rows.some(({ eventId }) => backlog.arriving.has(eventId))) return; // `feed` is called again when they are there
      if (isAllMet && areLast && !backlog.hasGrown) backlog.isBehind = false;
      await new Promise(setImmediate); // a long backlog does not block the event loop
    }
  } catch (error) {
    logger.error('the journal could not be read', { error });
    for (const lane of backlog.freed) backlog.blocked.add(lane); // the reading may not have come to these lanes
    backlog.isToRewind = true;
    backlog.isBehind = false;
  } finally {
    backlog.isReading = false;
    notifyIdle(backlog);
  }
}

/**
 * Returns whether the host claims no more updates for now: as many wait as may run, or the host is full of updates that have begun and
 * wait for their session or for their agent.
 */
export function isCrowded({ running, conversationLanes }: HostParts): boolean {
  return running.waiting >= running.limit || conversationLanes.areFull;
}

/** Looks at the next open row. @returns whether to go on behind it. */
function meet(parts: HostParts, row: UpdateRecord): boolean {
  const { backlog } = parts;
  if (isCrowded(parts) || backlog.arriving.has(row.eventId)) return false;
  backlog.afterSeq = row.seq;
  if (row.lane !== undefined && isOwed(parts, row)) backlog.blocked.add(row.lane);
  if (!isFree(parts, row) || !isOwn(parts, row)) return true;
  const lane = laneOfRow(parts, row);
  if (lane !== undefined && backlog.blocked.has(lane)) return true;
  const known = lane === undefined ? undefined : backlog.lanes.get(lane);
  if (lane !== undefined && known === undefined) claim(parts, lane, row);
  else if (known !== undefined) {
    known.hasMore = true; // it is read again when this lane is free
    known.hasGrown = true;
    if (row.lane === undefined && !known.unnamed.includes(row.eventId))
      known.unnamed.push(row.eventId);
  }
  return true;
}

/** Returns the lane of an update. Returns nothing if its account does not run; the update then waits for the account. */
function laneOfRow(parts: HostParts, row: UpdateRecord): string | undefined {
  const { eventId, channel, accountId } = row;
  const account = parts.accounts.find(channel, accountId);
  if (account === undefined) {
    const about = { eventId, channel, accountId };
    parts.logger.warn('an update waits for its account, which does not run', about);
    return undefined;
  }
  return row.lane ?? laneOf(parts, account, decodeUpdate(parts, account, updateOf(row)));
}

/** Claims an update of the journal. Its row is read again when its turn comes, so that no body is held while it waits. */
function claim(parts: HostParts, lane: string, row: UpdateRecord): void {
  const { eventId, attempts, slot = 0 } = row;
  const { deferredEnds, counts, options, backlog, logger } = parts;
  const { maxAttempts = 3 } = options.journal;
  counts.resumed++;
  let isOnly = true;
  const work = async (place: Place): Promise<Worked> => {
    try {
      return await resumeUpdate(parts, eventId, { place, isOnly });
    } catch (error) {
      if (isDamageReported(parts, error)) return 'done';
      logger.error('what the journal holds could not be claimed', { eventId, error });
      if (mayPass(error)) {
        deferredEnds.add(eventId);
        return 'blocked';
      }
      backlog.damaged.add(row.seq); // another try would end the same way: this host does not make it
      return 'done';
    }
  };
  const job = { eventId, lane, slot, work };
  if (attempts === 0 || maxAttempts === 1) {
    hold(parts, job);
    return;
  }
  // The update has no place in its lane yet. Updates behind it are parked, and read when it has ended.
  if (!runsAtOnce(lane)) laneIn(parts, lane).hasMore = true;
  hold(parts, job, (inOrder) =>
    backlog.crashSuspects.run(attempts, (suspect) => {
      isOnly = suspect.isOnly && !backlog.isBehind; // there may be others that were not read yet
      return inLane(parts, lane, (place) => {
        suspect.begin();
        return inOrder(releasing(place, suspect.release));
      });
    }),
  );
}

type InOrder = (place: Place) => Promise<void>;

/** A place whose message is told to be no suspect any more when it waits for a person. */
function releasing(place: Place, release: () => void): Place {
  const leave = (isForPerson?: boolean): void => {
    place.leave(isForPerson);
    if (isForPerson === true) release();
  };
  return { leave, enter: () => place.enter() };
}

function inLane({ conversationLanes }: HostParts, lane: string, inOrder: InOrder): Promise<void> {
  return conversationLanes.run(lane, inOrder, { runsAtOnce: runsAtOnce(lane) });
}

/**
 * Does a job in its lane, and then claims the next update of that lane.
 *
 * @param run runs it in its lane; it may refuse to.
 * @returns whether it runs, or will.
 */
export function hold(
  parts: HostParts,
  { eventId, lane, slot, work }: Job,
  run: (inOrder: InOrder) => Promise<void> | undefined = (inOrder) => inLane(parts, lane, inOrder),
): boolean {
  const { backlog, active, logger, journal } = parts;
  const lost = journal.ownership.fenceOf(slot)?.signal ?? AbortSignal.abort();
  const inOrder = async (place: Place): Promise<void> => {
    try {
      if (lost.aborted || !isOwn(parts, { slot })) return; // another host has taken the partition meanwhile
      if (backlog.blocked.has(lane)) return; // the update is read again with the one that blocks it
      if ((await work(place)) === 'blocked') backlog.blocked.add(lane);
    } finally {
      active.delete(eventId);
      if (backlog.begun.get(eventId)?.signal.aborted === true) backlog.begun.delete(eventId);
      if (lost.aborted) backlog.suspended.delete(eventId);
      parts.batches?.forget(eventId);
      backlog.isToRewind ||= lost.aborted; // readings have passed over it, also since the partition came back
    }
  };
  const running = run(inOrder);
  if (running === undefined) return false;
  const known = runsAtOnce(lane) ? undefined : laneIn(parts, lane);
  if (known !== undefined) known.active++;
  active.add(eventId);
  void running
    .catch((error: unknown) => logger.error('a message failed', { error }))
    .then(() => {
      if (known !== undefined && --known.active === 0) return next(parts, lane, known);
      return undefined;
    })
    .then(() => feed(parts))
    .finally(() => notifyIdle(backlog));
  return true;
}

function laneIn({ backlog }: HostParts, lane: string): ActiveLane {
  return getOrMake(backlog.lanes, lane, () => ({
    ...{ active: 0, hasMore: false, hasGrown: false, unnamed: [] },
  }));
}

/** Claims the next update of a lane of which nothing is active. */
export function readLane(parts: HostParts, lane: string): void {
  const known = laneIn(parts, lane);
  known.hasMore = true;
  void next(parts, lane, known).finally(() => notifyIdle(parts.backlog));
}

/** Claims the next update of a lane. A lane with no update that waits is forgotten. */
async function next(parts: HostParts, lane: string, known: ActiveLane): Promise<void> {
  const { backlog, logger } = parts;
  try {
    while (known.hasMore && !backlog.blocked.has(lane) && !isDeferredToNext(parts)) {
      known.hasGrown = false;
      const row = await firstOf(parts, lane, known);
      if (row !== undefined) return claim(parts, lane, row);
      if (!known.hasGrown) known.hasMore = false;
    }
  } catch (error) {
    logger.error('the journal could not be read', { error });
    backlog.blocked.add(lane); // more of it waits in the journal
    backlog.isToRewind = true;
  }
  backlog.lanes.delete(lane);
}

/** Finds the oldest open update of a lane that is not active. */
async function firstOf(
  parts: HostParts,
  lane: string,
  known: ActiveLane,
): Promise<UpdateRecord | undefined> {
  const { journal, backlog } = parts;
  for (;;) {
    const eventId = known.unnamed.shift();
    if (eventId === undefined) break;
    const [row] = await journal.updates({ eventId, states: openUpdates });
    if (row === undefined) continue;
    if (backlog.arriving.has(eventId)) return readAgainFrom(parts, row);
    if (isFree(parts, row)) return row;
  }
  for (let afterSeq = 0; ; ) {
    const { rows, areLast } = await readOpen(parts, { lane, afterSeq, limit: 2 });
    const row = rows.find(
      (one) => backlog.arriving.has(one.eventId) || isFree(parts, one) || isOwed(parts, one),
    );
    const last = rows.at(-1);
    if (row !== undefined && isOwed(parts, row)) {
      backlog.blocked.add(lane);
      return undefined;
    }
    if (row !== undefined && backlog.arriving.has(row.eventId)) return readAgainFrom(parts, row);
    if (row !== undefined)
      return !isOwn(parts, row) || laneOfRow(parts, row) === undefined ? undefined : row;
    if (last === undefined || areLast) return undefined;
    afterSeq = last.seq;
  }
}

/**
 * Lets the next reading begin at an update that is being written down. The update is new, or it has come again while it waits;
 * the write will show which. Until then neither the update nor those behind it are claimed.
 */
function readAgainFrom({ backlog }: HostParts, { seq }: UpdateRecord): undefined {
  backlog.rewinds++;
  backlog.afterSeq = Math.min(backlog.afterSeq, seq - 1);
  backlog.isBehind = true;
  return undefined;
}
