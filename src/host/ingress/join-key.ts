import type { InboundMessage } from '../../channel/index.js';
import type { HostParts } from '../parts/parts.js';
import { parseCommandLine } from '../provided/commands.js';
import { conversationOf } from '../session/routing.js';
import type { TakenUpdate } from './taken-update.js';

/**
 * The key that messages have in common which may join each other (durability §10.2). Messages of one lane alone are compared.
 *
 * @returns nothing if the update joins no other, and no other joins it.
 */
export function joinKeyOf(
  { joins, questions }: HostParts,
  { eventId, account, decoded }: Pick<TakenUpdate, 'eventId' | 'account' | 'decoded'>,
): string | undefined {
  if (joins === undefined || joins.withinMs(account) === 0) return undefined;
  if (decoded.kind !== 'message' || decoded.route !== undefined) return undefined;
  const { message, senderProof } = decoded;
  const { content, sender, from, threadId, accountId = account.accountId } = message;
  if (message.isEdited === true || sender?.isBot === true) return undefined;
  // the address of a group is that of many people
  if (sender?.id === undefined && isOfGroup(message)) return undefined;
  if (message.commandSource !== undefined || parseCommandLine(content) !== undefined)
    return undefined;
  const place = {
    channel: message.channel,
    accountId,
    conversationId: conversationOf(message),
    threadId,
  };
  if (questions.isAnsweredBy(eventId) || questions.open.written(content, place) !== undefined)
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
