import type { Trail } from '../../agent/index.js';
import { oneLine } from '../../kernel/index.js';
import { withCancelReply } from '../egress/cancel-reply.js';
import { tellFailure } from '../egress/reply.js';
import { type MessageEnd, stopped } from '../journal/message-end.js';
import type { HostParts } from '../parts/parts.js';
import type { RoutedMessage } from '../session/routing.js';

type Ending = Pick<MessageEnd, 'status' | 'reason' | 'sends'>;

/**
 * Does the work of a message. What the store throws, its sender learns, too: the message is not lost unseen. So does the sender
 * of a cancelled reply, if there is a text for it.
 */
export async function guarded(
  parts: HostParts,
  trail: Trail,
  message: RoutedMessage,
  work: () => Promise<Ending>,
): Promise<Ending> {
  try {
    return await withCancelReply(parts, trail, message, await work());
  } catch (error) {
    if (parts.signal.aborted) return stopped;
    const reason = oneLine(error);
    const sends = await tellFailure(parts, trail, message, { code: 'session', message: reason });
    return { status: 'failed', reason, sends };
  }
}
