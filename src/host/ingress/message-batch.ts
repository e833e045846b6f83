import type { UpdateRecord } from '@sluice/journal';
import { openUpdates } from '@sluice/journal/internal';
import type { InboundMessage } from '@sluice/sdk/channel';
import { isAnsweredBy, writtenOf } from '../inquiries/question-row.js';
import { longestBatchWait, maxBatchSize } from '../lanes/message-batches.js';
import type { HostParts } from '../parts/parts.js';
import { parseCommandLine } from '../provided/commands.js';
import { conversationOf } from '../session/routing.js';
import { decodeUpdate } from './decode-update.js';
import { type ReceivedUpdate, updateOf } from './received-update.js';

/** The messages behind a leader that join it. */
export interface MessageBatch {
  readonly members: readonly ReceivedUpdate[];
  /** No more may join: there are enough, or what comes next does not join. */
  readonly isFull: boolean;
  /** The next one is being written down. */
  readonly isArriving: boolean;
  /** The time of the last of them by the journal, in milliseconds since 1970. */
  readonly lastAtMs: number;
}

/** Finds the messages that join a leader, by the rows of its lane: whoever looks at the same rows finds the same messages. */
export async function batchOf(
  parts: HostParts,
  leader: UpdateRecord & { readonly lane: string },
  key: string,
): Promise<MessageBatch> {
  const { journal, backlog, active, batches } = parts;
  const { lane, seq: afterSeq, acceptedAtMs } = leader;
  const rows = await journal.updates({ lane, states: openUpdates, afterSeq, limit: maxBatchSize });
  const members: ReceivedUpdate[] = [];
  let lastAtMs = acceptedAtMs;
  const found = (isFull: boolean, isArriving = false): MessageBatch => ({
    ...{ members, isFull, isArriving, lastAtMs },
  });
  for (const row of rows) {
    const { eventId } = row;
    if (backlog.arriving.has(eventId)) return found(false, true);
    const isRefused = active.has(eventId);
    const received = isRefused || !isNew(row) ? undefined : receivedOf(parts, row);
    const withinMs = received === undefined ? 0 : (batches?.withinMs(received.account) ?? 0);
    const isSoon =
      row.acceptedAtMs - lastAtMs <= withinMs &&
      row.acceptedAtMs - acceptedAtMs <= longestBatchWait * withinMs;
    if (received === undefined || !isSoon || (await joiningKeyOf(parts, received)) !== key)
      return found(true);
    members.push(received);
    lastAtMs = row.acceptedAtMs;
    if (members.length + 1 >= maxBatchSize) return found(true);
  }
  return found(false);
}

/**
 * Finds the messages that have joined a leader which was begun before. Between them there may be messages that an operator has had
 * tried again since then.
 */
export async function membersOf(
  parts: HostParts,
  { eventId, seq, lane }: UpdateRecord,
): Promise<Set<ReceivedUpdate>> {
  const joined = new Set<ReceivedUpdate>();
  if (lane === undefined) return joined;
  for (let afterSeq = seq; ; ) {
    const filter = { lane, states: openUpdates, afterSeq, limit: maxBatchSize, withoutBody: true };
    const rows = await parts.journal.updates(filter);
    for (const row of rows) {
      if (row.joinedTo === eventId) {
        const [whole] = await parts.journal.updates({ eventId: row.eventId });
        const received = whole && receivedOf(parts, whole);
        if (received !== undefined) joined.add(received);
      } else if (row.retriedAfterSeq === undefined) return joined;
      afterSeq = row.seq;
    }
    if (rows.length < maxBatchSize) return joined;
  }
}

/** Returns whether an update was never begun, and has joined no other. */
function isNew({ state, attempts, retriedAfterSeq, joinedTo: other }: UpdateRecord): boolean {
  return (
    state === 'accepted' && attempts === 0 && retriedAfterSeq === undefined && other === undefined
  );
}

function receivedOf(parts: HostParts, row: UpdateRecord): ReceivedUpdate | undefined {
  const { eventId, receivedAtMs } = row;
  const { account, update, isWhole } = updateOf(parts, row);
  if (account === undefined || !isWhole) return undefined;
  const decoded = decodeUpdate(parts, account, update);
  return { eventId, account, update, receivedAtMs, decoded };
}

/**
 * The key that messages have in common which may join each other (durability §10.2). Messages of one lane alone are compared.
 *
 * @returns nothing if the update joins no other, and no other joins it.
 * @throws as the journal does.
 */
export async function joiningKeyOf(
  parts: HostParts,
  received: Pick<ReceivedUpdate, 'eventId' | 'account' | 'decoded'>,
): Promise<string | undefined> {
  const key = batchKeyOf(parts, received);
  if (key === undefined || received.decoded.kind !== 'message') return undefined;
  const { eventId, account, decoded } = received;
  const { message } = decoded;
  const { channel, accountId = account.accountId, threadId, content } = message;
  const place = { channel, accountId, conversationId: conversationOf(message), threadId };
  const asked = await parts.questions.at(place);
  return isAnsweredBy(asked, eventId) || writtenOf(asked, content, place) ? undefined : key;
}

/** As `joiningKeyOf`, and without a look at the questions that a message may answer. */
export function batchKeyOf(
  { batches }: HostParts,
  { account, decoded }: Pick<ReceivedUpdate, 'account' | 'decoded'>,
): string | undefined {
  if (batches === undefined || batches.withinMs(account) === 0) return undefined;
  if (decoded.kind !== 'message' || decoded.route !== undefined) return undefined;
  const { message, senderProof } = decoded;
  const { content, sender, from } = message;
  if (message.isEdited === true || sender?.isBot === true) return undefined;
  // the address of a group is that of many people
  if (sender?.id === undefined && isOfGroup(message)) return undefined;
  if (message.commandSource !== undefined || parseCommandLine(content) !== undefined)
    return undefined;
  const { originatingChannel, originatingTo, sessionKey } = message;
  // a message that is not proven gets no rights of one that is
  return JSON.stringify([
    ...[sender?.id ?? from, senderProof],
    ...[originatingChannel, originatingTo, sessionKey],
  ]);
}

function isOfGroup({ isGroup, groupId, guildId }: InboundMessage): boolean {
  return isGroup === true || groupId !== undefined || guildId !== undefined;
}
