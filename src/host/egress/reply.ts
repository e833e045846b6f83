import type { Trail } from '@sluice/agent';
import type { SendReport } from '@sluice/journal';
import { type Ending, stopped } from '@sluice/journal/internal';
import { definedFields, type StopSignal } from 'sluice-kernel/internal';
import { type AnswerFailure, failureTextOf } from '../config/failure-text.js';
import type { FencedParts } from '../parts/parts.js';
import { conversationOf, type RoutedMessage } from '../session/routing.js';
import { deliver } from './delivery.js';
import { suspendedReport } from './end-send.js';
import type { OutgoingMessage } from './prepare-send.js';

/** A reply to a message, and the agent in whose name it is said. */
export type Reply = Pick<OutgoingMessage, 'content' | 'kind'> &
  Partial<
    Pick<
      OutgoingMessage,
      'agentId' | 'sessionKey' | 'sessionId' | 'runId' | 'attachments' | 'metadata' | 'replyToId'
    >
  >;

/**
 * Sends a reply to where a message came from, unless a resolver of `egress.preparing` chooses another account. What went
 * out in the same words when the message was handled before does not go out again (durability §7.4). Nothing goes out for a message
 * that is suspended: it is said when the message is claimed again.
 */
export function replyTo(
  parts: FencedParts,
  trail: Trail,
  message: RoutedMessage,
  reply: Reply,
  signal: StopSignal,
  address: ReplyAddress = addressOf(message),
): Promise<SendReport> {
  const before = parts.suspension?.isSuspended
    ? suspendedReport(reply)
    : parts.outbox.takeSentBefore(trail.correlationId, reply);
  if (before !== undefined) return Promise.resolve(before);
  const outgoing = { ...address, ...reply };
  return deliver(parts, trail.fork(), outgoing, signal);
}

/** The address that something goes to. */
export type ReplyAddress = Omit<OutgoingMessage, 'content' | 'kind'>;

/** Finds the address of a reply to a message. */
export function addressOf(message: RoutedMessage): ReplyAddress {
  const { channel, accountId, originatingChannel, originatingTo, threadId, messageId } = message;
  const backBy = originatingChannel ?? channel;
  return Object.freeze({
    explicit: false,
    channel: backBy,
    to: originatingTo ?? conversationOf(message),
    conversationId: conversationOf(message),
    ...definedFields({
      replyToId: messageId,
      accountId: backBy === channel ? accountId : undefined,
      threadId,
      isGroup: message.isGroup,
      groupId: message.groupId,
    }),
  });
}

/** Tells the sender of a message that it could not be answered, unless the host's options say not to, or the message is suspended. */
export async function endFailed(
  parts: FencedParts,
  trail: Trail,
  message: RoutedMessage,
  failure: AnswerFailure,
): Promise<Ending> {
  if (parts.suspension?.isSuspended) return stopped;
  const { message: reason } = failure;
  parts.logger.error(`a message could not be answered: ${failure.code}`, {
    code: failure.code,
    detail: reason,
    channel: message.channel,
  });
  const usual = parts.texts.to(message)('message-failed', failure);
  const content = failureTextOf(failure, parts.options.failureText, usual);
  if (content === undefined) return { status: 'failed', reason, sends: [] };
  const told = await replyTo(parts, trail, message, { kind: 'error', content }, parts.signal);
  return { status: 'failed', reason, sends: [told] };
}
