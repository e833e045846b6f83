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
import { deferred, definedFields } from 'sluice-kernel/internal';
import { hostError } from '../errors.js';
import { carryToEnd } from '../ingress/carry-update.js';
import {
  besideLane,
  decodeUpdate,
  laneOf,
  runsAtOnce,
  senderOf,
  slotOfLane,
} from '../ingress/decode-update.js';
import { acknowledge, endUpdate, notifyChannel, reportMessageEnd } from '../ingress/end-update.js';
import { handleBegun, handleUpdate } from '../ingress/handle-update.js';
import { batchKeyOf } from '../ingress/message-batch.js';
import { namesOf, type ReceivedUpdate, type Worked } from '../ingress/received-update.js';
import {
  type Fate,
  fateInFull,
  fateOf,
  mayPark,
  mostOpenOf,
  noteOpen,
  roomFor,
} from '../ingress/when-full.js';
import { arriveIn } from '../lanes/backlog.js';
import type { MessageBatches } from '../lanes/message-batches.js';
import { noPlace, type Place } from '../lanes/slots.js';
import { usualUpdateLength } from '../parts/options.js';
import type { HostParts } from '../parts/parts.js';
import { underAnyFence, underFenceOf } from '../parts/under-fence.js';
import type { RunningAccount } from '../provided/accounts.js';
import { admit, admitNow } from '../queue/admit.js';
import { feed } from '../queue/feeder.js';
import { boundedJson } from '../timeline/bounded-json.js';
import { reportUpdate } from '../timeline/report-update.js';

type Accepted = Awaited<ReturnType<Journal['accept']>>;

/**
 * Takes an update in: the journal keeps it, then it takes its place in the lane of its conversation, waits in the journal,
 * or is refused (durability §6, §8.2). One that the journal knows is not handled again. One that could not be persisted is neither
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
  const { arriving } = parts.backlog;
  const eventId = eventIdOf(account.channel.id, account.accountId, update.updateId);
  const receivedAtMs = update.receivedAtMs ?? parts.clock.now();
  const decoded = decodeUpdate(parts, account, update);
  const received = { eventId, account, update, receivedAtMs, decoded };
  const lane = laneOf(parts, account, decoded);
  const slot = slotOfLane(parts, lane, account);
  const isOwn = parts.journal.ownership.fenceOf(slot) !== undefined;
  arriving.add(eventId); // before it is persisted, so that a reading of the journal does not claim it
  const persisted = deferred<Accepted | undefined>();
  const work = async (place: Place): Promise<Worked> => {
    const accepted = await persisted.promise;
    if (accepted?.status !== 'accepted') return 'done';
    if (accepted.fence !== undefined)
      return handleBegun(parts, received, accepted.fence, { place, earlier: [] });
    const known = parts.backlog.lanes.get(lane);
    if (known !== undefined) known.hasMore = true; // it was not begun: its lane is read
    return 'done';
  };
  const key = parts.batches && batchKeyOf(parts, received);
  const mayBegin = isOwn && key === undefined && parts.shares.hasRoom(senderOf(received));
  const isBegun = mayBegin && admitNow(parts, { eventId, lane, slot, work });
  const arrived = isBegun ? undefined : arriveIn(parts.backlog, lane);
  const accepted = await persist(parts, received, lane, slot, isBegun);
  persisted.resolve(accepted);
  if (accepted?.status === 'full')
    refuse(parts, received, fateInFull(parts, account, lane), 'ended');
  if (accepted?.status === 'accepted' && accepted.open !== undefined)
    noteOpen(parts, lane, accepted.open);
  if (accepted?.status === 'accepted' && isOwn && !isBegun) takePlace(parts, received, lane, slot);
  arrived?.();
  arriving.delete(eventId);
  if (accepted?.status === 'accepted') parts.batches?.arrived(lane, key, !parts.questions.areNone);
  else parts.batches?.notNew(lane);
  void feed(parts); // it may have waited for this one to be written down
  if (accepted === undefined) return 'refused';
  const hasEnded = accepted.status === 'known' && !isOneOf(openUpdates, accepted.state);
  if (parts.journal.acknowledge === 'persisted' || hasEnded)
    await acknowledge(parts, account, update); // else at its end
  if (hasEnded)
    notifyChannel(parts, { ...namesOf(received), status: 'known', correlationId: eventId });
  await roomFor(parts, account, lane);
  return undefined;
}

/** An update that was just kept takes its place, waits in the journal, or is refused. */
function takePlace(parts: HostParts, received: ReceivedUpdate, lane: string, slot: number): void {
  const { active, batches } = parts;
  const { account, eventId } = received;
  const fate = fateOf(parts, account, lane);
  if (fate !== 'handled') {
    refuse(parts, received, fate, slot);
    return;
  }
  const work = (place: Place) =>
    batches === undefined
      ? handleUpdate(parts, received, { place, earlier: [] })
      : handleInLane(parts, batches, received, { place, lane });
  admit(parts, { eventId, lane, slot, work }, mayPark(parts, account));
  if (active.has(eventId)) batches?.add(eventId, received.update);
}

/** Refuses or drops an update. @param slot that of its lane, under whose fence it ends; `ended` if the journal has its end. */
function refuse(
  parts: HostParts,
  received: ReceivedUpdate,
  fate: Fate,
  slot: number | 'ended',
): void {
  const { active, logger, conversationLanes } = parts;
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
      await endUpdate(fenced, received, isDead ? persisted : end, isEnded);
    } finally {
      active.delete(eventId);
    }
  };
  // the answer to a sender who is refused goes out in a lane beside that of its conversation
  const refusals = JSON.stringify(['refused', laneOf(parts, account, received.decoded)]);
  const refused =
    fate === 'dropped'
      ? refusing()
      : conversationLanes.run(refusals, refusing, { runsAtOnce: true });
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

/** Handles an update whose turn has come, unless it has joined another meanwhile. */
async function handleInLane(
  parts: HostParts,
  batches: MessageBatches,
  received: ReceivedUpdate,
  { place, lane }: { readonly place: Place; readonly lane: string },
): Promise<Worked> {
  const how = { place, earlier: [] };
  if (batches.hasJoined(received.eventId)) return 'done';
  try {
    return await handleUpdate(parts, received, how);
  } finally {
    if (runsAtOnce(lane)) batches.close(besideLane(received) ?? '');
  }
}

/** Keeps an update. Never rejects. @returns nothing if the journal could not keep it. */
async function persist(
  parts: HostParts,
  received: ReceivedUpdate,
  lane: string,
  slot: number,
  isBegun: boolean,
): Promise<Accepted | undefined> {
  const { journal, logger, counts } = parts;
  const { eventId, account, update, receivedAtMs, decoded } = received;
  const named = namesOf(received);
  const body =
    journal.acknowledge === 'persisted'
      ? bodyOf(parts, update.raw, { ...named, eventId })
      : undefined;
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
function bodyOf(
  { logger, options }: HostParts,
  raw: unknown,
  named: Readonly<Record<string, unknown>>,
): string | undefined {
  const body = boundedJson(raw, {
    maxLength: options.journal.maxUpdateLength ?? usualUpdateLength,
  });
  if ('json' in body) return body.json;
  logger.warn(
    `an update is persisted without its body, which is ${body.problem}: after a restart it cannot be handled`,
    named,
  );
  return undefined;
}
