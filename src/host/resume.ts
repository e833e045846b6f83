import type { InboundUpdate } from '../channel/index.js';
import { decodeUpdate } from './decode-update.js';
import { beginKept, endKept, giveBack, handleKept, isOver } from './handle-kept.js';
import { openUpdates, type SendRecord, type UpdateRecord } from './journal/journal.js';
import type { KeepingParts } from './keeping.js';
import { endOf, type MessageEnd } from './message-end.js';
import { reportOfRecord } from './outbox.js';
import type { Place } from './place.js';
import { giveUpSend, settleSend } from './settle-send.js';

/** More sends than one message makes. */
const allSends = 100_000;

/**
 * Takes up an update of the journal whose turn has come. What it has left open comes to its end first; where it was answered, it
 * ends as its sends did. One that was begun too often goes to the dead letters, and nothing of it runs.
 */
export async function resumeUpdate(
  parts: KeepingParts,
  eventId: string,
  place: Place,
): Promise<void> {
  const { journal, accounts, options } = parts;
  const { maxAttempts = 3 } = options;
  if (isOver(parts)) return;
  const [record] = await journal.updates({ eventId, states: openUpdates });
  if (record === undefined) return; // it has come to its end meanwhile
  const { attempts, body, channel, accountId, updateId } = record;
  const account = accounts.find(channel, accountId);
  if (account === undefined) {
    parts.backlog.waiting.add(eventId); // it was stopped meanwhile
    return;
  }
  const about = { channel, accountId, ...(updateId !== undefined && { updateId }) };
  const named: Omit<MessageEnd, 'status'> = { ...about, correlationId: eventId, sends: [] };
  const earlier = await journal.sends({ correlationId: eventId, limit: allSends });
  const isAnswered = !earlier.some(isOpen) && endOfAnswered(earlier) !== undefined; // only its end was not kept
  if (attempts >= maxAttempts && !isAnswered) {
    const reason = `it was begun ${attempts} times, and never came to an end`;
    for (const send of earlier) if (isOpen(send)) await giveUpSend(parts, send, reason);
    await endKept(parts, eventId, { ...named, status: 'failed', reason });
    return;
  }
  const settled = await settle(parts, record, earlier);
  if (settled === undefined) return;
  const end = wasBegun(record) ? endOfAnswered(settled) : undefined;
  if (end !== undefined) await endKept(parts, eventId, { ...named, ...end });
  else if (body === undefined) {
    const reason = 'its body could not be kept, and the host ended before it was handled';
    await endKept(parts, eventId, { ...named, status: 'failed', reason });
  } else {
    const update = updateOf(record);
    const decoded = decodeUpdate(parts, account, update);
    await handleKept(parts, { eventId, account, update, decoded, place, earlier: settled });
  }
}

/** Whether it was begun before: what was tried again by an operator was not. */
function wasBegun({ attempts, state }: UpdateRecord): boolean {
  return attempts > 0 || state === 'handling';
}

/** Brings what an update has left open to its end. @returns all its sends; nothing where it has to wait. */
async function settle(
  parts: KeepingParts,
  { eventId }: UpdateRecord,
  earlier: readonly SendRecord[],
): Promise<readonly SendRecord[] | undefined> {
  const open = earlier.filter(isOpen);
  if (open.length === 0) return earlier;
  if (!(await beginKept(parts, eventId))) return undefined; // also a send may end the process
  for (const send of open)
    if (!(await settleSend(parts, send))) {
      parts.backlog.waiting.add(eventId); // its account does not run
      if (!isOver(parts)) await giveBack(parts, eventId);
      return undefined;
    }
  return parts.journal.sends({ correlationId: eventId, limit: allSends });
}

/** How a message ended whose last reply was prepared before; nothing where it has not come so far. */
function endOfAnswered(
  sends: readonly SendRecord[],
): Pick<MessageEnd, 'status' | 'reason' | 'sends'> | undefined {
  const answers = sends.filter(isAnswer);
  if (!answers.some(isLast)) return undefined;
  const reports = sends.filter((send) => !isOpen(send)).map(reportOfRecord);
  if (!answers.some(({ kind }) => kind === 'error'))
    return { ...endOf(answers.map(reportOfRecord)), sends: reports };
  const reason = 'it could not be answered, and its sender was told so';
  return { status: 'failed', reason, sends: reports };
}

/** An update as its channel gave it. */
export function updateOf({ updateId, receivedAtMs, body }: UpdateRecord): InboundUpdate {
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
