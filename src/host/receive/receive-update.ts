import type { Journal } from '@sluice/journal';
import {
  eventIdOf,
  fullReason,
  isOneOf,
  logJournalFailure,
  mayPass,
  openUpdates,
} from '@sluice/journal/internal';
import type { InboundUpdate } from '@sluice/sdk/channel';
import { definedFields } from 'sluice-kernel/internal';
import { hostError } from '../errors.js';
import { carryToEnd } from '../ingress/carry-update.js';
import { decodeUpdate, laneOf, senderOf, slotOfLane } from '../ingress/decode-update.js';
import { acknowledge, endUpdate, notifyChannel, reportMessageEnd } from '../ingress/end-update.js';
import { handleBegun } from '../ingress/handle-update.js';
import { batchKeyOf } from '../ingress/message-batch.js';
import { namesOf, type ReceivedUpdate } from '../ingress/received-update.js';
import {
  enterRoom,
  type Fate,
  fateInFull,
  fateOf,
  mostOpenOf,
  roomFor,
} from '../ingress/when-full.js';
import type { HeldUpdate } from '../lanes/room.js';
import { noPlace } from '../lanes/slots.js';
import { usualUpdateLength } from '../parts/options.js';
import type { HostParts } from '../parts/parts.js';
import { underAnyFence, underFenceOf } from '../parts/under-fence.js';
import type { RunningAccount } from '../provided/accounts.js';
import { arrive, arrived, holdNow, unhold, workNow } from '../queue/arrivals.js';
import { boundedJson } from '../timeline/bounded-json.js';
import { reportUpdate } from '../timeline/report-update.js';

type Accepted = Awaited<ReturnType<Journal['accept']>>;

/** An update on its way into the journal. */
interface Arriving {
  readonly received: ReceivedUpdate;
  readonly eventId: string;
  readonly lane: string;
  readonly slot: number;
  /** The lane is of a partition of this host. */
  readonly isOwn: boolean;
  /** Messages with this key may join it. */
  readonly batchKey: string | undefined;
  /** The update as the journal keeps it; absent if it does not. */
  readonly body: string | undefined;
}

/**
 * Takes an update in: the journal keeps it, then it begins, or waits in the journal for its turn in its conversation, or is refused
 * (durability §6, §8.2). One that the journal knows is not handled again. One that could not be persisted is neither
 * handled nor acknowledged, so that its provider brings it again.
 *
 * @returns when the channel may bring another. Never rejects.
 */
export async function receiveUpdate(
  parts: HostParts,
  account: RunningAccount,
  update: InboundUpdate,
): Promise<'refused' | undefined> {
  parts.counts.received++;
  const arriving = arrivingOf(parts, account, update);
  arrive(parts, arriving); // before it is persisted, so that a reading of the journal does not claim it
  const isHeld = mayBeginNow(parts, arriving) && holdNow(parts, arriving.lane);
  const accepted = await persist(parts, arriving, isHeld);
  if (isHeld) begin(parts, arriving, accepted);
  const isWaiting = accepted?.status === 'accepted' && waits(parts, arriving, accepted);
  notifyBatch(parts, arriving, accepted);
  arrived(parts, arriving, isWaiting);
  if (accepted === undefined) return 'refused';
  const isJob = arriving.received.decoded.kind === 'job'; // it is the host's own, which waits for nobody
  const hasRoom = isJob ? undefined : roomFor(parts, account, arriving.lane); // by what is here now
  const confirmed = confirm(parts, arriving, accepted);
  if (confirmed !== undefined) await confirmed;
  if (hasRoom !== undefined) await hasRoom;
  return undefined;
}

/** Decodes an update, and finds its place among the others. */
function arrivingOf(parts: HostParts, account: RunningAccount, update: InboundUpdate): Arriving {
  const { clock, journal, batches, room } = parts;
  const eventId = eventIdOf(account.channel.id, account.accountId, update.updateId);
  const decoded = decodeUpdate(parts, account, update);
  const { receivedAtMs = clock.now() } = update;
  const received = { eventId, account, update, receivedAtMs, decoded };
  const lane = laneOf(parts, account, decoded);
  const slot = slotOfLane(parts, lane, account);
  const isOwn = journal.ownership.fenceOf(slot) !== undefined;
  const batchKey = batches && batchKeyOf(parts, received);
  const body = room.rules.holdsUpdates ? undefined : bodyOf(parts, received);
  return { received, eventId, lane, slot, isOwn, batchKey, body };
}

/** Returns whether an update may begin with the write that keeps it, if nothing of its lane is before it. */
function mayBeginNow({ shares }: HostParts, arriving: Arriving): boolean {
  const { isOwn, batchKey, received } = arriving;
  return isOwn && batchKey === undefined && shares.hasRoom(senderOf(received));
}

/** Begins an update for which its lane was held, if the journal has begun it. */
function begin(parts: HostParts, arriving: Arriving, accepted: Accepted | undefined): void {
  const fence = accepted?.status === 'accepted' ? accepted.fence : undefined;
  if (fence === undefined) unhold(parts, arriving.lane);
  else
    void workNow(parts, arriving, heldOf(arriving), (place) =>
      handleBegun(parts, arriving.received, fence, { place, earlier: [] }),
    );
}

/** An update of which the journal has no body. */
function heldOf({ body, received }: Arriving): HeldUpdate | undefined {
  return body === undefined ? { account: received.account, update: received.update } : undefined;
}

/** Has an update wait for its turn, unless it has begun, is another host's, or is refused. @returns whether it waits. */
function waits(
  parts: HostParts,
  arriving: Arriving,
  { fence, open }: Extract<Accepted, { status: 'accepted' }>,
): boolean {
  const { received, eventId, lane, body } = arriving;
  if (open !== undefined) parts.room.noteOpen(lane, open);
  if (fence !== undefined || !arriving.isOwn || parts.active.has(eventId)) return false;
  const fate = fateOf(parts, received.account, lane);
  if (fate === 'handled') enterRoom(parts, received, lane, body !== undefined);
  else refuse(parts, received, fate, arriving.slot);
  return fate === 'handled';
}

/** Tells the leader of a batch that waits in the lane of an update, and refuses the update if the journal did. */
function notifyBatch(parts: HostParts, arriving: Arriving, accepted: Accepted | undefined): void {
  const { received, lane, batchKey } = arriving;
  if (accepted?.status === 'full')
    refuse(parts, received, fateInFull(parts, received.account, lane), 'ended');
  if (accepted?.status === 'accepted')
    parts.batches?.arrived(lane, batchKey, !parts.questions.areNone);
  else parts.batches?.notNew(lane);
}

/** Tells the channel of an update that the journal has, or of its end, if it had come before. */
function confirm(
  parts: HostParts,
  { received }: Arriving,
  accepted: Accepted,
): Promise<void> | undefined {
  const { account, update, eventId: correlationId } = received;
  const hasEnded = accepted.status === 'known' && !isOneOf(openUpdates, accepted.state);
  if (!hasEnded) return acknowledge(parts, account, update, 'persisted');
  const end = { ...namesOf(received), status: 'known', correlationId } as const;
  return (acknowledge(parts, account, update) ?? done).then(() => notifyChannel(parts, end));
}

const done = Promise.resolve();

/** Refuses or drops an update. @param slot that of its lane, under whose fence it ends; `ended` if the journal has its end. */
function refuse(
  parts: HostParts,
  received: ReceivedUpdate,
  fate: Fate,
  slot: number | 'ended',
): void {
  const { active, logger, sendLanes } = parts;
  const { account, eventId } = received;
  active.add(eventId);
  const refusing = async (): Promise<void> => {
    try {
      const own = parts.journal.ownership;
      const isEnded = slot === 'ended';
      const fenced = isEnded
        ? underAnyFence(parts, own.slotOf(eventId))
        : underFenceOf(parts, slot);
      if (fenced === undefined) return isEnded ? reportUnheard(parts, received) : undefined; // its host decides anew
      const end = await carryToEnd(fenced, received, noPlace, fate);
      const persisted = { ...end, status: 'failed', reason: fullReason } as const;
      const isDead = isEnded || end.status === 'cancelled'; // as the journal has it; durability §8.3
      const worked = await endUpdate(fenced, received, isDead ? persisted : end, { isEnded });
      parts.backlog.isToRewind ||= worked !== 'done'; // it is claimed again
    } finally {
      if (!parts.signal.aborted) active.delete(eventId);
    }
  };
  // the answer to a sender who is refused goes out in a lane beside that of its conversation
  const refusals = JSON.stringify(['refused', laneOf(parts, account, received.decoded)]);
  const refused = fate === 'dropped' ? refusing() : sendLanes.run(refusals, refusing);
  refused.catch((error: unknown) => logger.error('a message failed', { eventId, error }));
}

/** Tells of an update that the journal has refused, of a host without a partition: no stage may run, and no sender is told. */
function reportUnheard(parts: HostParts, received: ReceivedUpdate): void {
  const { eventId } = received;
  const about = { ...namesOf(received), reason: fullReason };
  parts.counts.deadLetters++;
  reportUpdate(parts, eventId, 'dead', { ...about, outcome: 'failed' });
  reportMessageEnd(parts, { ...about, correlationId: eventId, status: 'failed', sends: [] });
}

/** Keeps an update. Never rejects. @returns nothing if the journal could not keep it. */
async function persist(
  parts: HostParts,
  arriving: Arriving,
  isBegun: boolean,
): Promise<Accepted | undefined> {
  const { journal, logger, counts } = parts;
  const { received, eventId, lane, slot, body } = arriving;
  const { account, receivedAtMs, decoded } = received;
  const named = namesOf(received);
  try {
    if (journal.ownership.partitionCount > 1 && body === undefined)
      throw hostError('not-kept', {
        extensionId: `${named.channel}/${named.accountId}`,
        problem: 'other hosts could not handle it, because its body cannot be persisted',
      });
    const accepted = await journal.accept(
      definedFields({ eventId, ...named, lane, slot, receivedAtMs, body }),
      isBegun,
      mostOpenOf(parts, account, decoded),
    );
    if (accepted.status !== 'known') {
      reportUpdate(parts, eventId, 'accepted', named);
      if (isBegun && accepted.status === 'accepted')
        reportUpdate(parts, eventId, 'begun', { attempt: 1 });
    } else {
      counts.duplicates++;
      logger.debug('an update came again', { ...named, eventId });
    }
    return accepted;
  } catch (error) {
    counts.refused++;
    parts.backlog.isToRewind ||= mayPass(error); // it may be persisted: a commit had no answer
    const message = 'an update was not taken in: the journal could not keep it';
    logJournalFailure(logger, message, { ...named, eventId, error });
    return undefined;
  }
}

/** The body of an update as a journal keeps it; nothing if it cannot be persisted. */
function bodyOf({ logger, options }: HostParts, received: ReceivedUpdate): string | undefined {
  const { maxUpdateLength: maxLength = usualUpdateLength } = options.journal;
  const body = boundedJson(received.update.raw, { maxLength });
  if ('json' in body) return body.json;
  logger.warn(
    `an update is persisted without its body, which is ${body.problem}: after a restart it cannot be handled`,
    { ...namesOf(received), eventId: received.eventId },
  );
  return undefined;
}
