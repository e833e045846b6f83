import type { InboundUpdate } from '../channel/index.js';
import { oneLine } from '../kernel/index.js';
import type { RunningAccount } from './accounts.js';
import { decodeUpdate, laneOf } from './decode-update.js';
import {
  acknowledge,
  carryToEnd,
  type Incoming,
  isLeftBehind,
  runInLane,
  tellMessageEnd,
  tellReceived,
} from './inbound.js';
import { boundedJson } from './journal/bounded-json.js';
import { eventIdOf } from './journal/event-id.js';
import type { Journal } from './journal/journal.js';
import { logJournalFailure } from './journal-failure.js';
import type { MessageEnd } from './message-end.js';
import type { HostParts } from './parts.js';
import { noPlace, type Place } from './place.js';
import { fateOf, roomFor } from './when-full.js';

/** A host's parts, with a journal. */
export type KeepingParts = HostParts & {
  readonly journal: Journal;
  readonly outbox: NonNullable<HostParts['outbox']>;
};

/** Whether a host keeps a journal. */
export function keeps(parts: HostParts): parts is KeepingParts {
  return parts.journal !== undefined && parts.outbox !== undefined;
}

/** More sends than one message makes. */
const allSends = 100_000;

type Taken = 'accepted' | 'known' | 'refused';

/**
 * Takes an update in and keeps it; then it is acknowledged, and carried to its end in the lane of its conversation
 * (spec durability §6). One that is known is acknowledged, and nothing else. One that could not be kept is neither handled
 * nor acknowledged, so that its provider brings it again. Resolves and never rejects as `receiveUpdate` does.
 */
export async function receiveKept(
  parts: KeepingParts,
  account: RunningAccount,
  update: InboundUpdate,
): Promise<'refused' | undefined> {
  parts.counts.received++;
  const eventId = eventIdOf(account.channel.id, account.accountId, update.updateId);
  const decoded = decodeUpdate(parts, account, update);
  const lane = laneOf(parts, account, decoded);
  const fate = fateOf(parts, account, lane);
  let received: Incoming['received'] | undefined;
  const taken = keep(parts, account, update, eventId).then((how) => {
    if (how !== 'accepted') return how;
    received = tellReceived(parts, account, update, eventId);
    received.catch(() => undefined); // awaited when the lane is free; until then nobody watches it
    return how;
  });
  const handle = async (place: Place): Promise<void> => {
    await taken;
    if (received === undefined) return;
    try {
      const incoming = { account, update, decoded, received, place };
      if (fate === 'handled') await handleKept(parts, eventId, incoming);
      else await endKept(parts, eventId, await carryToEnd(parts, incoming, fate));
    } finally {
      parts.inHand.delete(eventId);
    }
  };
  const handled =
    fate === 'dropped' ? handle(noPlace) : runInLane(parts, account, lane, fate, handle);
  void handled.catch((error: unknown) =>
    parts.logger.error('a message failed', { eventId, error }),
  );
  if ((await taken) === 'refused') return 'refused';
  await acknowledge(parts, account, update);
  await roomFor(parts, account, lane);
  return undefined;
}

/** Keeps an update. Never rejects. */
async function keep(
  parts: KeepingParts,
  { channel, accountId }: RunningAccount,
  update: InboundUpdate,
  eventId: string,
): Promise<Taken> {
  const { updateId, raw, receivedAtMs = parts.clock.now() } = update;
  const body = boundedJson(raw, { maxLength: parts.options.maxUpdateLength ?? 1_048_576 });
  const named = { channel: channel.id, accountId, ...(updateId !== undefined && { updateId }) };
  if (!('json' in body))
    parts.logger.warn(
      `an update is kept without its body, which is ${body.problem}: after a restart it cannot be handled`,
      { ...named, eventId },
    );
  const isInHand = parts.inHand.has(eventId);
  parts.inHand.add(eventId); // before it is kept: nobody who looks for what is left may find it
  try {
    const about = { eventId, ...named, receivedAtMs };
    const { status } = await parts.journal.accept(
      'json' in body ? { ...about, body: body.json } : about,
    );
    if (status === 'accepted') return status;
    if (!isInHand) parts.inHand.delete(eventId);
    parts.counts.duplicates++;
    parts.logger.debug('an update came again', { ...named, eventId });
    return status;
  } catch (error) {
    if (!isInHand) parts.inHand.delete(eventId);
    parts.counts.refused++;
    const reason = `the journal could not keep it: ${oneLine(error)}`;
    const message = 'an update was not taken in: the journal could not keep it';
    logJournalFailure(parts.logger, message, { ...named, eventId, error });
    tellMessageEnd(parts, {
      ...named,
      correlationId: eventId,
      status: 'failed',
      reason,
      sends: [],
    });
    return 'refused';
  }
}

/**
 * Handles an update that is kept, to its end. One that was begun too often without coming to an end goes to the dead
 * letters instead. One that the journal fails is left as it is, and tried again later.
 */
export async function handleKept(
  parts: KeepingParts,
  eventId: string,
  incoming: Incoming,
): Promise<void> {
  const { journal, outbox, options, logger } = parts;
  if (parts.signal.aborted) return;
  const { maxAttempts = 3 } = options;
  let end: MessageEnd;
  try {
    const earlier = await journal.sends({ correlationId: eventId, limit: allSends });
    const attempts = await journal.begin(eventId);
    if (attempts > maxAttempts) {
      const reason = `it was begun ${attempts - 1} times, and never came to an end`;
      end = { ...(await carryToEnd(parts, incoming, 'dropped')), reason };
    } else {
      using _sends = outbox.open(eventId, earlier);
      end = await carryToEnd(parts, incoming);
    }
  } catch (error) {
    logJournalFailure(logger, 'an update waits: the journal could not be used', { eventId, error });
    parts.leftOpen.add(eventId);
    return;
  }
  await endKept(parts, eventId, end);
}

/** Ends an update that is kept, and tells how. Never rejects. */
export async function endKept(
  parts: KeepingParts,
  eventId: string,
  end: MessageEnd,
): Promise<void> {
  if (!isLeftBehind(parts, end)) {
    const { status, reason } = end;
    const isDead = status === 'failed' || status === 'undecodable';
    if (isDead) parts.counts.deadLetters++;
    try {
      await parts.journal.endUpdate(eventId, {
        isDead,
        outcome: status,
        ...(reason !== undefined && { reason: oneLine(reason) }),
      });
    } catch (error) {
      logJournalFailure(parts.logger, 'the end of an update was not kept', { eventId, error });
      parts.leftOpen.add(eventId); // its sends are kept: they are not sent again
    }
  }
  tellMessageEnd(parts, end);
}
