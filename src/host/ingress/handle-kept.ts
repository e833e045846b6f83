import type { InboundUpdate } from '../../channel/index.js';
import { oneLine } from '../../kernel/index.js';
import type { SendRecord } from '../journal/journal.js';
import type { MessageEnd } from '../journal/message-end.js';
import type { Place } from '../lanes/place.js';
import { logJournalFailure } from '../outbox/journal-failure.js';
import type { KeepingParts } from '../parts/keeping.js';
import type { RunningAccount } from '../provided/accounts.js';
import {
  carryToEnd,
  type Incoming,
  isLeftBehind,
  tellMessageEnd,
  tellReceived,
} from './inbound.js';

/** An update that the journal keeps, and whose turn has come. */
export interface KeptUpdate extends Pick<Incoming, 'decoded'> {
  readonly eventId: string;
  readonly account: RunningAccount;
  readonly update: InboundUpdate;
  readonly place: Place;
  /** The sends that it made when it was handled before. */
  readonly earlier: readonly SendRecord[];
}

/** `held up`: it could not be begun. What comes after it in its conversation waits, too. */
export type Worked = 'done' | 'held up';

/** Tells whether an update that has not begun is left to the next host. */
export function isOver({ signal, backlog }: KeepingParts): boolean {
  return signal.aborted || backlog.isClosed;
}

/**
 * Handles an update that is kept, to its end. It is begun first: whatever it ends this process by, it is known to have run.
 * One that the journal fails is left as it is, and tried again later.
 */
export async function handleKept(parts: KeepingParts, kept: KeptUpdate): Promise<Worked> {
  const { outbox } = parts;
  const { eventId, account, update, decoded, earlier } = kept;
  if (isOver(parts)) return 'done';
  if (!(await beginKept(parts, eventId))) return 'held up';
  using _sends = outbox.open(eventId, earlier);
  const received = tellReceived(parts, account, update, eventId);
  const place = countedPlace(parts, eventId, kept.place);
  const end = await carryToEnd(parts, { account, update, decoded, received, place });
  if (place.isLost === true) return 'held up';
  await endKept(parts, eventId, end);
  return 'done';
}

/**
 * The place of an update that is kept. While it waits for its session or its agent it runs nothing, so what ends the host
 * meanwhile is not counted against it (durability §7.7).
 */
function countedPlace(parts: KeepingParts, eventId: string, place: Place): Place {
  let isLost = false;
  let givenBack: Promise<boolean> | undefined;
  return {
    get isLost() {
      return isLost;
    },
    leave: () => {
      place.leave();
      givenBack = giveBack(parts, eventId);
    },
    enter: async () => {
      await place.enter();
      if (parts.signal.aborted) return; // it ends here, and is not counted
      if ((await givenBack) === false)
        parts.backlog.begun.add(eventId); // it is still counted
      else if (!(await beginKept(parts, eventId))) {
        isLost = true;
        throw new Error('it waited, and could not be begun again: it is taken up later');
      }
    },
  };
}

/** Begins an update, unless that was done. @returns whether it has begun; else it is tried again later. Never rejects. */
export async function beginKept(parts: KeepingParts, eventId: string): Promise<boolean> {
  const { journal, backlog, logger, leftOpen } = parts;
  if (backlog.begun.has(eventId)) return true;
  try {
    await journal.begin(eventId);
    backlog.begun.add(eventId);
    return true;
  } catch (error) {
    logJournalFailure(logger, 'an update waits: the journal could not be used', { eventId, error });
    leftOpen.add(eventId);
    return false;
  }
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
    parts.backlog.begun.delete(eventId);
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

/**
 * Gives back what was begun here and has not ended, when a host stops in good order: these beginnings do not count
 * (durability §7.8). The ends of sends that could not be kept are tried once more. Never rejects.
 */
export async function giveBackAll(parts: KeepingParts): Promise<void> {
  await parts.outbox.keepSent();
  await Promise.all([...parts.backlog.begun].map((eventId) => giveBack(parts, eventId)));
}

/** Gives one back. @returns whether it is no longer counted. Never rejects. */
export async function giveBack(parts: KeepingParts, eventId: string): Promise<boolean> {
  const { journal, backlog, logger } = parts;
  backlog.begun.delete(eventId);
  try {
    await journal.giveBack(eventId);
    return true;
  } catch (error) {
    logJournalFailure(logger, 'a beginning that does not count was counted', { eventId, error });
    return false;
  }
}
