import { isLeftToNext } from '../ingress/begin-update.js';
import { decodeUpdate, laneOf, runsAtOnce } from '../ingress/decode-update.js';
import type { Worked } from '../ingress/handle-update.js';
import { openUpdates, type UpdateRecord } from '../journal/journal.js';
import { type KeptLane, tellIdle } from '../lanes/backlog.js';
import type { Place } from '../lanes/place.js';
import { mayPass } from '../outbox/journal-failure.js';
import type { HostParts } from '../parts/parts.js';
import { isDamageTold, readOpen } from './open-rows.js';
import { resumeUpdate, updateOf } from './resume.js';

// The journal is the queue: in hand is what runs, and as much as may run next. What is parked, what a host before this one
// has left and what is to be tried again are taken up by the same reading of it (durability §8.8).

/** Rows that are read at a time. */
const page = 50;

/** An update, and what is done with it when its turn has come. */
interface Job {
  readonly eventId: string;
  readonly lane: string;
  readonly work: (place: Place) => Promise<Worked>;
}

/**
 * Takes an update that was just kept in hand, if it is next in its conversation and few others wait; else it is parked.
 *
 * @param mayPark it may be parked although nothing of its conversation is: its channel is not to wait for it.
 */
export function admit(parts: HostParts, job: Job, mayPark: boolean): void {
  const { backlog, counts } = parts;
  const { lane } = job;
  const known = backlog.lanes.get(lane);
  if (runsAtOnce(lane)) {
    hold(parts, job);
    return;
  }
  if (backlog.heldUp.has(lane)) {
    counts.parked++; // it is read with the one that holds it up
    return;
  }
  if (known !== undefined && (known.hasMore || mayPark)) {
    known.hasMore = true;
    known.hasGrown = true;
  } else if (known === undefined && (backlog.isBehind || (mayPark && isCrowded(parts)))) {
    backlog.isBehind = true;
    backlog.hasGrown = true;
  } else {
    hold(parts, job);
    return;
  }
  counts.parked++;
  void feed(parts);
}

/**
 * Reads the journal from its first row, for what is open and in nobody's hand. Resolves when what may run next is in hand.
 * A journal that does not outlive its host is not read: all of it is in hand.
 */
export async function rewind(parts: HostParts): Promise<void> {
  const { backlog, journal } = parts;
  if (!journal.outlivesHost) return;
  backlog.rewinds++;
  backlog.waiting.clear();
  backlog.afterSeq = 0;
  backlog.isBehind = true;
  await feed(parts);
}

/**
 * Has the next reading take up the conversations that are held up. One of which something is still in hand stays held up:
 * that came after the update that could not be begun (durability §6.6).
 */
export function freeHeldUp({ backlog, conversationLanes }: HostParts): void {
  const { heldUp, lanes } = backlog;
  backlog.freed = [...heldUp].filter((lane) => !lanes.has(lane) && conversationLanes.isIdle(lane));
  for (const lane of backlog.freed) heldUp.delete(lane);
}

/** Takes up what is next, as long as few wait. Never rejects. */
export async function feed(parts: HostParts): Promise<void> {
  const { backlog, logger } = parts;
  if (backlog.isReading || !backlog.isBehind) return;
  backlog.isReading = true;
  try {
    while (backlog.isBehind && !isLeftToNext(parts) && !isCrowded(parts)) {
      const { afterSeq, rewinds } = backlog;
      backlog.hasGrown = false;
      const { rows, areLast } = await readOpen(parts, { afterSeq, limit: page });
      if (rewinds !== backlog.rewinds) continue;
      const isAllMet = rows.every((row) => meet(parts, row));
      if (rows.some(({ eventId }) => backlog.arriving.has(eventId))) return; // told again when they are there
      if (isAllMet && areLast && !backlog.hasGrown) backlog.isBehind = false;
      await new Promise(setImmediate); // a long backlog does not hold up the event loop
    }
  } catch (error) {
    logger.error('the journal could not be read', { error });
    for (const lane of backlog.freed) backlog.heldUp.add(lane); // it may not have come to them
    backlog.isToRewind = true;
    backlog.isBehind = false;
  } finally {
    backlog.isReading = false;
    tellIdle(backlog);
  }
}

/**
 * No more are taken in hand: as many wait as run, or the host is full of those that have begun and wait for their session
 * or for their agent.
 */
function isCrowded({ running, conversationLanes }: HostParts): boolean {
  const { entering, areFull } = conversationLanes; // a commit may have kept hundreds, which all enter in this turn
  return running.waiting + entering >= running.limit || areFull;
}

/** Looks at the next open row. @returns whether to go on behind it. */
function meet(parts: HostParts, row: UpdateRecord): boolean {
  const { backlog } = parts;
  if (isCrowded(parts) || backlog.arriving.has(row.eventId)) return false;
  backlog.afterSeq = row.seq;
  if (!isFree(parts, row)) return true;
  const lane = laneOfRow(parts, row);
  if (lane !== undefined && backlog.heldUp.has(lane)) return true;
  const known = lane === undefined ? undefined : backlog.lanes.get(lane);
  if (lane !== undefined && known === undefined) takeUp(parts, lane, row);
  else if (known !== undefined) {
    known.hasMore = true; // it is read again when this lane is free
    known.hasGrown = true;
    if (row.lane === undefined && !known.unnamed.includes(row.eventId))
      known.unnamed.push(row.eventId);
  }
  return true;
}

function isFree(
  { inHand, leftOpen, backlog, outbox }: HostParts,
  { eventId, seq }: UpdateRecord,
): boolean {
  const isElsewhere = inHand.has(eventId) || leftOpen.has(eventId) || backlog.waiting.has(eventId);
  return !isElsewhere && !backlog.damaged.has(seq) && !outbox.owes(eventId);
}

/** The lane of an update; nothing where its account does not run: it waits for that. */
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

/** Takes an update of the journal in hand. It is read again when its turn comes: a body is not held while it waits. */
function takeUp(parts: HostParts, lane: string, row: UpdateRecord): void {
  const { eventId, attempts } = row;
  const { leftOpen, counts, options, backlog, logger } = parts;
  const { maxAttempts = 3 } = options;
  counts.resumed++;
  let isOnly = true;
  const work = async (place: Place): Promise<Worked> => {
    try {
      return await resumeUpdate(parts, eventId, { place, isOnly });
    } catch (error) {
      if (isDamageTold(parts, error)) return 'done';
      logger.error('what the journal holds could not be taken up', { eventId, error });
      if (mayPass(error)) {
        leftOpen.add(eventId);
        return 'held up';
      }
      backlog.damaged.add(row.seq); // another try would end the same way: this host does not make it
      return 'done';
    }
  };
  const job = { eventId, lane, work };
  if (attempts === 0 || maxAttempts === 1) {
    hold(parts, job);
    return;
  }
  // it has no place in its lane yet: what comes after it is parked, and read when it has ended
  if (!runsAtOnce(lane)) laneIn(parts, lane).hasMore = true;
  hold(parts, job, (run) =>
    backlog.suspects.run(attempts, (isLast) => {
      isOnly = isLast && !backlog.isBehind; // there may be others that were not read yet
      return run();
    }),
  );
}

/** Has work done in its lane; then what is next in that lane is taken up. */
function hold(
  parts: HostParts,
  { eventId, lane, work }: Job,
  when: (run: () => Promise<void>) => Promise<void> = (run) => run(),
): void {
  const { backlog, conversationLanes, inHand, logger } = parts;
  const isAtOnce = runsAtOnce(lane);
  const known = isAtOnce ? undefined : laneIn(parts, lane);
  if (known !== undefined) known.held++;
  inHand.add(eventId);
  const inOrder = async (place: Place): Promise<void> => {
    try {
      if (backlog.heldUp.has(lane)) return; // it is read again with the one that holds it up
      if ((await work(place)) === 'held up') backlog.heldUp.add(lane);
    } finally {
      inHand.delete(eventId);
    }
  };
  void when(() => conversationLanes.run(lane, inOrder, { runsAtOnce: isAtOnce }))
    .catch((error: unknown) => logger.error('a message failed', { error }))
    .then(() => {
      if (known !== undefined && --known.held === 0) return next(parts, lane, known);
      return undefined;
    })
    .then(() => feed(parts))
    .finally(() => tellIdle(backlog));
}

function laneIn({ backlog }: HostParts, lane: string): KeptLane {
  let known = backlog.lanes.get(lane);
  if (known === undefined) {
    known = { held: 0, hasMore: false, hasGrown: false, unnamed: [] };
    backlog.lanes.set(lane, known);
  }
  return known;
}

/** Takes up what is next in a lane; one of which nothing waits is forgotten. */
async function next(parts: HostParts, lane: string, known: KeptLane): Promise<void> {
  const { backlog, logger } = parts;
  try {
    while (known.hasMore && !backlog.heldUp.has(lane) && !isLeftToNext(parts)) {
      known.hasGrown = false;
      const row = await firstOf(parts, lane, known);
      if (row !== undefined) return takeUp(parts, lane, row);
      if (!known.hasGrown) known.hasMore = false;
    }
  } catch (error) {
    logger.error('the journal could not be read', { error });
    backlog.heldUp.add(lane); // more of it waits in the journal
    backlog.isToRewind = true;
  }
  backlog.lanes.delete(lane);
}

/** The oldest update of a lane that is open and in nobody's hand. */
async function firstOf(
  parts: HostParts,
  lane: string,
  known: KeptLane,
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
    const row = rows.find((one) => backlog.arriving.has(one.eventId) || isFree(parts, one));
    const last = rows.at(-1);
    if (row !== undefined && backlog.arriving.has(row.eventId)) return readAgainFrom(parts, row);
    if (row !== undefined) return laneOfRow(parts, row) === undefined ? undefined : row;
    if (last === undefined || areLast) return undefined;
    afterSeq = last.seq;
  }
}

/**
 * An update is being written down: it is new, or it has come again while it waits. Which of the two is known soon. Until then
 * neither it nor what is behind it is taken up.
 */
function readAgainFrom({ backlog }: HostParts, { seq }: UpdateRecord): undefined {
  backlog.rewinds++;
  backlog.afterSeq = Math.min(backlog.afterSeq, seq - 1);
  backlog.isBehind = true;
  return undefined;
}
