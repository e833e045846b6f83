import type { ApprovedMessage } from 'sluice/channel';
import * as chat from 'sluice/chat';
import type { TelegramConfig } from '../config.js';
import { fromHtml, toHtml } from '../text/html.js';
import { type MediaForm, mediaForm, mediaSource } from './media.js';

/** The longest message that Telegram takes, in UTF-16 units of the text that people see. */
export const messageLimit = 4096;
/** The longest text under a file. */
const captionLimit = 1024;

/** One call that sends: a text, or a file with a text under it. */
export interface Part {
  readonly method: MediaForm['method'] | 'sendMessage';
  /** The fields of a call besides its target and its text. */
  readonly media: Readonly<Record<string, unknown>>;
  /** The field of its text. */
  readonly textField: 'text' | 'caption';
  readonly text: chat.RichText;
}

/** A message's text, read as its format says. HTML that Telegram would refuse is shown as it is written. */
export function richTextOf(
  { content, format }: Pick<ApprovedMessage, 'content' | 'format'>,
  usual: TelegramConfig['format'],
  readMarkdown = chat.fromMarkdown,
): chat.RichText {
  const said = format ?? usual;
  if (said === 'markdown') return readMarkdown(content);
  return (said === 'html' ? fromHtml(content) : undefined) ?? chat.plainText(content);
}

/**
 * Makes the calls that send a message: its text, cut where it must be, and its files. A short text stands under the first
 * file, unless it is given in place of the message's own.
 */
export async function partsOf(
  message: ApprovedMessage,
  config: Pick<TelegramConfig, 'format' | 'mediaRoots'>,
  given?: chat.RichText,
): Promise<chat.MessageParts<Part> | chat.Unsendable> {
  const text = given ?? chat.trimmed(richTextOf(message, config.format));
  const { attachments } = message;
  const isCaption =
    given === undefined && attachments.length > 0 && text.text.length <= captionLimit;
  const parts = isCaption ? [] : chat.split(text, messageLimit).map(textPart);
  const startsWithText = parts.length > 0;
  for (const [at, attachment] of attachments.entries()) {
    const { source, problem } = await mediaSource(attachment, config.mediaRoots);
    if (problem !== undefined) return { problem };
    const { method, field } = mediaForm(attachment);
    const isFirst = isCaption && at === 0;
    parts.push({
      method,
      media: { [field]: source },
      textField: 'caption',
      text: isFirst && text.text !== '' ? text : chat.plainText(''),
    });
  }
  return parts.length > 0 ? { parts, startsWithText } : { problem: 'there is nothing to send' };
}

/** The call that sends a text. */
export function textPart(text: chat.RichText): Part {
  return { method: 'sendMessage', media: {}, textField: 'text', text };
}

/** The fields of a text: as HTML where it has marks, else as it is. Without markup, targets stand behind their links. */
export function textFields(
  field: Part['textField'],
  rich: chat.RichText,
  isPlain = false,
): Readonly<Record<string, string>> {
  if (rich.text === '') return {};
  if (rich.marks.length === 0) return { [field]: rich.text };
  const limit = field === 'text' ? messageLimit : captionLimit;
  const plain = isPlain ? chat.nested(rich) : undefined;
  if (plain !== undefined) return { [field]: plain.length > limit ? rich.text : plain };
  return { [field]: toHtml(rich), parse_mode: 'HTML' };
}
