import type { InboundUpdate } from '../../channel/index.js';
import { definedFields, oneLine } from '../../kernel/index.js';
import { decodeUpdate, laneOf } from '../ingress/decode-update.js';
import { endKept, handleKept, type KeptUpdate } from '../ingress/handle-kept.js';
import {
  acknowledge,
  carryToEnd,
  runInLane,
  tellMessageEnd,
  tellReceived,
} from '../ingress/inbound.js';
import { fateOf, mayPark, roomFor } from '../ingress/when-full.js';
import { boundedJson } from '../journal/bounded-json.js';
import { eventIdOf } from '../journal/event-id.js';
import { noPlace, type Place } from '../lanes/place.js';
import { logJournalFailure } from '../outbox/journal-failure.js';
import type { KeepingParts } from '../parts/keeping.js';
import type { RunningAccount } from '../provided/accounts.js';
import { admit, feed } from '../recovery/feeder.js';

/** An update that is written down. */
interface Arriving {
  readonly update: InboundUpdate;
  readonly eventId: string;
  readonly lane: string;
}

type Taken = 'accepted' | 'known' | 'refused';

/**
 * Takes an update in and keeps it; then it is acknowledged, and carried to its end in the lane of its conversation, or
 * parked (spec durability §6, §8.2). One that is known is acknowledged, and nothing else. One that could not be kept is neither
 * handled nor acknowledged, so that its provider brings it again. Resolves and never rejects as `receiveUpdate` does.
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
  const { arriving } = parts.backlog;
  arriving.add(eventId); // before it is kept: nobody who looks for what is left may take it up
  const taken = await keep(parts, account, { update, eventId, lane });
  if (taken === 'accepted') begin(parts, { account, update, eventId, decoded }, lane);
  arriving.delete(eventId);
  void feed(parts); // it may have waited for this one to be written down
  if (taken === 'refused') return 'refused';
  await acknowledge(parts, account, update);
  await roomFor(parts, account, lane);
  return undefined;
}

/** An update that was just kept takes its place, waits in the journal, or is refused. */
function begin(
  parts: KeepingParts,
  kept: Omit<KeptUpdate, 'place' | 'earlier'>,
  lane: string,
): void {
  const { inHand, logger } = parts;
  const { account, update, eventId, decoded } = kept;
  const fate = fateOf(parts, account, lane);
  if (fate === 'handled') {
    const work = (place: Place) => handleKept(parts, { ...kept, place, earlier: [] });
    admit(parts, { eventId, lane, work }, mayPark(parts, account));
    return;
  }
  inHand.add(eventId);
  const refuse = async (place: Place): Promise<void> => {
    try {
      const received = tellReceived(parts, account, update, eventId);
      const incoming = { account, update, decoded, received, place };
      await endKept(parts, eventId, await carryToEnd(parts, incoming, fate));
    } finally {
      inHand.delete(eventId);
    }
  };
  const refused =
    fate === 'dropped' ? refuse(noPlace) : runInLane(parts, account, lane, fate, refuse);
  refused.catch((error: unknown) => logger.error('a message failed', { eventId, error }));
}

/** Keeps an update. Never rejects. */
async function keep(
  parts: KeepingParts,
  { channel, accountId }: RunningAccount,
  { update, eventId, lane }: Arriving,
): Promise<Taken> {
  const { updateId, raw, receivedAtMs = parts.clock.now() } = update;
  const body = boundedJson(raw, { maxLength: parts.options.maxUpdateLength ?? 1_048_576 });
  const named = { channel: channel.id, accountId, ...definedFields({ updateId }) };
  if (!('json' in body))
    parts.logger.warn(
      `an update is kept without its body, which is ${body.problem}: after a restart it cannot be handled`,
      { ...named, eventId },
    );
  try {
    const about = { eventId, ...named, lane, receivedAtMs };
    const { status } = await parts.journal.accept(
      'json' in body ? { ...about, body: body.json } : about,
    );
    if (status === 'accepted') return status;
    parts.counts.duplicates++;
    parts.logger.debug('an update came again', { ...named, eventId });
    return status;
  } catch (error) {
    parts.counts.refused++;
    const reason = `the journal could not keep it: ${oneLine(error)}`;
    const message = 'an update was not taken in: the journal could not keep it';
    logJournalFailure(parts.logger, message, { ...named, eventId, error });
    const end = { ...named, correlationId: eventId, status: 'failed', reason, sends: [] } as const;
    tellMessageEnd(parts, end, 'debug'); // it is told above, and again each time that it comes
    return 'refused';
  }
}
