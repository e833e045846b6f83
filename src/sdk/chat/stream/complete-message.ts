import type { ApprovedMessage, SendResult } from '../../channel/index.js';
import { sendParts, sent } from '../send/send-message.js';
import type { SendParts } from '../send/surface.js';
import { type RichText, trimmed } from '../text/rich-text.js';
import { placePart, removeMessage, type ShownMessage } from './shown-message.js';

/** The preview that a final replaces. */
interface Completion<Part> {
  /** The preview; absent where there is none. */
  readonly shown: ShownMessage<Part> | undefined;
  /** The idempotency key of the final. */
  readonly key: string;
  /** The final, as it is shown; by default the message's own text. */
  readonly text?: RichText;
  /** Notes that sends begin, so that whoever finds the preview after a crash makes none of them again. */
  readonly noteSending: () => Promise<void>;
}

/**
 * Puts a message in the place of its preview, and sends what does not fit there. The edit may be repeated; sends may not,
 * and are noted before the first of them.
 */
export async function completeMessage<Part>(
  send: SendParts<Part>,
  message: ApprovedMessage,
  { shown, key, noteSending, text = trimmed(send.surface.textOf(message)) }: Completion<Part>,
): Promise<SendResult> {
  const { surface } = send;
  const port = surface.at(message);
  const made = 'problem' in port ? port : await surface.partsOf(message, text);
  if ('problem' in port || made.problem !== undefined) {
    if (shown !== undefined) await removeMessage(shown);
    return { status: 'rejected', reason: made.problem ?? `nothing can be sent to "${message.to}"` };
  }
  const { parts, startsWithText } = made;
  if (shown === undefined) return sendParts(send, { port, parts, attempt: 1, key });

  const [first] = parts;
  const canReplace = first !== undefined && startsWithText;
  if (!canReplace) await removeMessage(shown);
  const placed = canReplace ? await placePart(shown, first, parts.length === 1) : 'gone';
  if (placed !== 'placed' && placed !== 'gone') return placed;
  const before = placed === 'placed' ? [shown.messageId] : [];
  const rest = parts.slice(before.length);
  if (rest.length === 0) return sent(before, port);
  try {
    await noteSending();
  } catch (error) {
    const reason = String(error);
    return { status: before.length === 0 ? 'rejected' : 'ambiguous', reason };
  }
  return sendParts(send, { port, parts: rest, attempt: 1, key, before });
}
