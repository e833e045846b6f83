import type { InboundUpdate } from '../channel/index.js';
import type { RunningAccount } from './accounts.js';
import { decodeUpdate, laneOf, runsAtOnce } from './decode-update.js';
import { tellReceived } from './inbound.js';
import { openSends, openUpdates, type SendRecord, type UpdateRecord } from './journal/journal.js';
import { endKept, handleKept, type KeepingParts } from './kept-updates.js';
import { endOf, type MessageEnd } from './message-end.js';
import { reportOfRecord } from './outbox.js';
import type { Place } from './place.js';
import { settleSend } from './settle-send.js';

/** Rows that are read at a time. */
const page = 1_000;

/**
 * Takes up what a host before this one has left (spec durability §7): each update that has not ended takes its place in
 * the lane of its conversation, in the order in which they were accepted, and so does each send that belongs to none.
 * What belongs to an account that does not run waits for it.
 */
export async function resumeAll(parts: KeepingParts): Promise<void> {
  const { journal, logger } = parts;
  const updates = await resumeUpdates(parts);
  let sends = 0;
  for (let afterSeq = 0; ; ) {
    const rows = await journal.sends({ states: openSends, afterSeq, limit: page });
    for (const record of rows) {
      afterSeq = record.seq;
      if (parts.inHand.has(record.correlationId ?? '')) continue; // its message settles it
      sends++;
      void parts.conversationLanes
        .run(
          JSON.stringify(['left', record.channel, record.accountId]),
          () => settleSend(parts, record),
          { runsAtOnce: true },
        )
        .catch((error: unknown) => tellFailed(parts, record.sendId, error));
    }
    if (rows.length < page) break;
  }
  if (updates + sends > 0)
    logger.info(`taken up from the journal: ${updates} messages, ${sends} sends`, {
      updates,
      sends,
    });
}

/** Takes up each update that has not ended and that nobody here has in hand. @returns how many. */
export async function resumeUpdates(parts: KeepingParts): Promise<number> {
  const { journal, accounts, inHand, counts, logger } = parts;
  let taken = 0;
  for (let afterSeq = 0; ; ) {
    const rows = await journal.updates({ states: openUpdates, afterSeq, limit: page });
    for (const { body, ...record } of rows) {
      afterSeq = record.seq;
      if (inHand.has(record.eventId)) continue;
      const { channel, accountId, eventId } = record;
      const account = accounts.find(channel, accountId);
      if (account === undefined) {
        logger.warn('an update waits for its account, which does not run', {
          eventId,
          channel,
          accountId,
        });
        continue;
      }
      taken++;
      counts.resumed++;
      takeUp(parts, account, record, body);
    }
    if (rows.length < page) return taken;
  }
}

/** Its lane is known from its body, which is read again when its turn comes: a backlog is not held in memory. */
function takeUp(
  parts: KeepingParts,
  account: RunningAccount,
  record: Omit<UpdateRecord, 'body'>,
  body: string | undefined,
): void {
  const { eventId } = record;
  const lane = laneOf(parts, account, decodeUpdate(parts, account, updateOf(record, body)));
  parts.inHand.add(eventId);
  void parts.conversationLanes
    .run(
      lane,
      async (place) => {
        const [row] = await parts.journal.updates({ eventId });
        if (row !== undefined) await resumeUpdate(parts, account, row, place);
      },
      { runsAtOnce: runsAtOnce(lane) },
    )
    .catch((error: unknown) => tellFailed(parts, eventId, error))
    .finally(() => parts.inHand.delete(eventId));
}

async function resumeUpdate(
  parts: KeepingParts,
  account: RunningAccount,
  record: UpdateRecord,
  place: Place,
): Promise<void> {
  const { eventId, attempts, body, channel, accountId, updateId } = record;
  if (parts.signal.aborted) return;
  const about = { channel, accountId, ...(updateId !== undefined && { updateId }) };
  const named: Omit<MessageEnd, 'status'> = { ...about, correlationId: eventId, sends: [] };
  const before = await parts.journal.sends({ correlationId: eventId, limit: 100_000 });
  for (const send of before) if (isOpen(send) && !(await settleSend(parts, send))) return; // its account does not run: it waits
  if (attempts > 0) {
    const sends = await parts.journal.sends({ correlationId: eventId, limit: 100_000 });
    const answers = sends.filter(isAnswer);
    if (answers.some(isLast)) {
      const reports = sends.filter((send) => !isOpen(send)).map(reportOfRecord);
      const ending = answers.some(({ kind }) => kind === 'error')
        ? ({
            status: 'failed',
            reason: 'it could not be answered, and its sender was told so',
          } as const)
        : endOf(answers.map(reportOfRecord));
      await endKept(parts, eventId, { ...named, ...ending, sends: reports });
      return;
    }
  }
  if (body === undefined) {
    const reason = 'its body could not be kept, and the host ended before it was handled';
    await endKept(parts, eventId, { ...named, status: 'failed', reason });
    return;
  }
  const update = updateOf(record, body);
  const received = tellReceived(parts, account, update, eventId);
  received.catch(() => undefined); // it is awaited by what follows, or not needed
  const decoded = decodeUpdate(parts, account, update);
  await handleKept(parts, eventId, { account, update, decoded, received, place });
}

function updateOf(record: Omit<UpdateRecord, 'body'>, body: string | undefined): InboundUpdate {
  const { updateId, receivedAtMs } = record;
  return {
    raw: body === undefined ? undefined : JSON.parse(body),
    receivedAtMs,
    ...(updateId !== undefined && { updateId }),
  };
}

function isOpen({ state }: SendRecord): boolean {
  return state === 'prepared' || state === 'sending';
}

/** Whether a send says what was answered, and not what tools or reasoning showed. */
function isAnswer({ kind }: SendRecord): boolean {
  return kind === 'block' || isConcluding(kind);
}

/** Whether a send is the last that its message had: the turn had ended, and is not taken again. */
function isLast({ kind, state, cause, attempts }: SendRecord): boolean {
  // a host that stopped before its channel had it has not answered
  const isLeftBehind = state === 'failed' && cause === 'aborted' && attempts === 0;
  return isConcluding(kind) && !isLeftBehind;
}

function isConcluding(kind: string): boolean {
  return kind === 'reply' || kind === 'error';
}

function tellFailed({ logger }: KeepingParts, eventId: string, error: unknown): void {
  logger.error('what the journal holds could not be taken up', { eventId, error });
}
