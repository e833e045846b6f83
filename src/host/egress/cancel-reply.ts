import type { Trail } from '@sluice/agent';
import type { SendReport } from '@sluice/journal';
import { type Ending, stopped } from '@sluice/journal/internal';
import { oneLine } from 'sluice-kernel/internal';
import type { CancelTexts } from '../config/failure-text.js';
import type { FencedParts } from '../parts/parts.js';
import { conversationOf, type RoutedMessage, type Routing } from '../session/routing.js';
import { deliver } from './delivery.js';
import { addressOf, endFailed } from './reply.js';

/** The cancel of a message, or of a reply to it. */
type Told = NonNullable<SendReport['cancel']>;

/** The end of a message, with the cancel that the host tells its sender about, if it is in none of its sends. */
export type CancelledEnding = Ending & { readonly cancel?: Told | undefined };

/**
 * Tells the sender of a message that a veto has cancelled it or a reply to it, in the operator's text for the code or in the
 * veto's (event-pipeline §16.20). At most one such reply goes out for a message, and one a minute for a conversation and a code.
 *
 * @param cancel by default the first in the sends of the message that a veto made.
 * @returns the end of the message, with the reply or with the reason why there is none.
 */
export async function withCancelReply<E extends Ending>(
  parts: FencedParts,
  trail: Trail,
  message: RoutedMessage,
  ended: E,
  cancel: Told | undefined = cancelOf(ended.sends),
): Promise<E> {
  if (cancel === undefined) return ended;
  const ending = { ...ended, cancelCode: cancel.code };
  if (parts.signal.aborted || parts.suspension?.isSuspended) return ending;
  const texts: Readonly<Record<string, string | false | undefined>> =
    parts.options.cancelText ?? ({} satisfies CancelTexts);
  const content = texts[cancel.code] ?? cancel.reply;
  if (content === undefined) return ending;
  const correlationId = trail.correlationId ?? '';
  const before = parts.outbox.cancelReplyOf(correlationId);
  if (before !== undefined) return { ...ending, sends: [...ending.sends, before] };
  const silence = whySilent(parts, message, cancel, content);
  if (content === false || silence !== undefined) {
    parts.logger.info('a cancel has no reply', { channel: message.channel, detail: silence });
    return { ...ending, reason: `${ending.reason ?? cancel.code}; no reply: ${silence}` };
  }
  const outgoing = { ...addressOf(message), kind: 'cancel-reply', content } as const;
  const eventId = `${correlationId}:reply`;
  const sent = await deliver(parts, trail.fork(), outgoing, parts.signal, eventId);
  return { ...ending, sends: [...ending.sends, sent] };
}

/** Ends a message that has no route, and tells its sender why. */
export function endUnrouted(
  parts: FencedParts,
  trail: Trail,
  message: RoutedMessage,
  routing: Exclude<Routing, { status: 'routed' }>,
): Promise<Ending> {
  const { reason } = routing;
  if (routing.status === 'failed')
    return endFailed(parts, trail, message, { code: 'routing', message: reason });
  parts.logger.info('a message was cancelled', { channel: message.channel, detail: reason });
  const { cancel, ...cancelled } = routing;
  return withCancelReply(parts, trail, message, { ...cancelled, sends: [] }, cancel);
}

/**
 * Does the work of a message. What the store throws, its sender learns, too: the message is not lost unseen. So does the sender
 * of a cancelled reply, if there is a text for it.
 */
export async function guarded(
  parts: FencedParts,
  trail: Trail,
  message: RoutedMessage,
  work: () => Promise<CancelledEnding>,
): Promise<Ending> {
  try {
    const ended = await work();
    if (ended.cancel === undefined && cancelOf(ended.sends) === undefined) return ended;
    const { cancel, ...ending } = ended;
    return await withCancelReply(parts, trail, message, ending, cancel);
  } catch (error) {
    if (parts.signal.aborted || parts.suspension?.by(error)) return stopped;
    return endFailed(parts, trail, message, { code: 'session', message: oneLine(error) });
  }
}

/** Says why a cancel has no reply though there is a text, or the operator's `false`; nothing if it has one. */
function whySilent(
  { mayReplyToCancel }: FencedParts,
  message: RoutedMessage,
  { code }: Told,
  content: string | false,
): string | undefined {
  if (content === false) return `cancelText says so for "${code}"`;
  if (message.sender?.isBot === true) return 'its sender is a bot';
  const { channel, accountId = '', threadId = '' } = message;
  const place = [channel, accountId, conversationOf(message), String(threadId), code];
  if (!mayReplyToCancel(JSON.stringify(place)))
    return `the conversation had a reply for "${code}" in the last minute`;
  return undefined;
}

/** The cancel that the host tells the sender about: the first by a veto. */
function cancelOf(sends: readonly SendReport[]): Told | undefined {
  return sends.find(({ cancel }) => cancel?.extensionId !== undefined)?.cancel;
}
