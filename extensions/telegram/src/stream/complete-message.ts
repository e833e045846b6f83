import type { ApprovedMessage, SendResult } from 'sluice/channel';
import { keyboardOf } from '../egress/keyboard.js';
import { partsOf, richTextOf, textParts } from '../egress/parts.js';
import { fieldsOf, type SendParts, sendParts, sent } from '../egress/send.js';
import { targetOf } from '../egress/target.js';
import { type RichText, trimmed } from '../text/rich-text.js';
import { split } from '../text/split.js';
import { placeText, removeMessage, type ShownMessage } from './shown-message.js';

/** The preview that a final replaces. */
export interface Completion {
  /** The preview; absent where there is none. */
  readonly shown: ShownMessage | undefined;
  /** The final, as it is shown; by default the message's own text. */
  readonly text?: RichText;
  /** Notes that sends begin, so that whoever finds the preview after a crash makes none of them again. */
  readonly noteSending: () => Promise<void>;
}

/**
 * Puts a message in the place of its preview, and sends what does not fit there. The edit may be repeated; sends may not,
 * and are noted before the first of them.
 */
export async function completeMessage(
  parts: SendParts,
  message: ApprovedMessage,
  { shown, noteSending, ...given }: Completion,
): Promise<SendResult> {
  const { config } = parts;
  const target = targetOf(message);
  const text = given.text ?? trimmed(richTextOf(message, config.format));
  const media = await partsOf({ ...message, content: '' }, config);
  const files = message.attachments.length === 0 ? [] : media.parts;
  const keyboard = keyboardOf(message);
  const { fields: last } = keyboard;
  const isEmpty = text.text === '' && files?.length === 0;
  if (target === undefined || files === undefined || last === undefined || isEmpty) {
    if (shown !== undefined) await removeMessage(shown);
    const reason = media.problem ?? keyboard.problem ?? `nothing can be sent to "${message.to}"`;
    return { status: 'rejected', reason };
  }
  const all = [...textParts(text), ...files];
  const whole = { parts: all, target, common: fieldsOf(message), last, attempt: 1 };
  if (shown === undefined) return sendParts(parts, whole);

  const [first] = split(text);
  if (first === undefined) await removeMessage(shown);
  const keys = all.length === 1 ? last : {}; // the last part has the keyboard
  const placed = first === undefined ? 'gone' : await placeText(shown, first, keys);
  if (placed !== 'placed' && placed !== 'gone') return placed;
  const before = placed === 'placed' ? [shown.messageId] : [];
  const rest = all.slice(before.length);
  if (rest.length === 0) return sent(before, undefined, target);
  try {
    await noteSending();
  } catch (error) {
    const reason = String(error);
    return { status: before.length === 0 ? 'rejected' : 'ambiguous', reason };
  }
  return sendParts(parts, { ...whole, parts: rest, before });
}
