import type { ApprovedMessage } from 'sluice/channel';
import type { TelegramConfig } from '../config.js';
import { fromHtml, toHtml } from '../text/html.js';
import { fromMarkdown } from '../text/markdown.js';
import { plainText, type RichText, trimmed } from '../text/rich-text.js';
import { split } from '../text/split.js';
import { type MediaForm, mediaForm, mediaSource } from './media.js';

/** The longest text under a file, in UTF-16 units. */
const captionLimit = 1024;

/** One call that sends: a text, or a file with a text under it. */
export interface Part {
  readonly method: MediaForm['method'] | 'sendMessage';
  /** The fields of a call besides its target and its text. */
  readonly media: Readonly<Record<string, unknown>>;
  /** The field of its text. */
  readonly textField: 'text' | 'caption';
  readonly text: RichText;
}

/** The parts that a message is sent as, in order; or why it is not sent. */
export type Parts =
  | { readonly parts: readonly Part[]; readonly problem?: undefined }
  | { readonly parts?: undefined; readonly problem: string };

/** A message's text, read as its format says. HTML that Telegram would refuse is shown as it is written. */
export function richTextOf(
  { content, format }: Pick<ApprovedMessage, 'content' | 'format'>,
  usual: TelegramConfig['format'],
): RichText {
  switch (format ?? usual) {
    case 'plain':
      return plainText(content);
    case 'html':
      return fromHtml(content) ?? plainText(content);
    default: {
      const rich = fromMarkdown(content);
      return rich.text.trim() === '' ? plainText(content) : rich; // markup around nothing
    }
  }
}

/** Makes the calls that send a message: its text, cut where it must be, and its files. A short text stands under the first. */
export async function partsOf(
  message: ApprovedMessage,
  config: Pick<TelegramConfig, 'format' | 'mediaRoots'>,
): Promise<Parts> {
  const text = trimmed(richTextOf(message, config.format));
  const { attachments } = message;
  const isCaption = attachments.length > 0 && text.text.length <= captionLimit;
  const parts = isCaption ? [] : textParts(text);
  for (const [at, attachment] of attachments.entries()) {
    const { source, problem } = await mediaSource(attachment, config.mediaRoots);
    if (problem !== undefined) return { problem };
    const { method, field } = mediaForm(attachment);
    const isFirst = isCaption && at === 0;
    parts.push({
      method,
      media: { [field]: source },
      textField: 'caption',
      text: isFirst && text.text !== '' ? text : plainText(''),
    });
  }
  return parts.length > 0 ? { parts } : { problem: 'there is nothing to send' };
}

/** The calls that send a text. */
export function textParts(text: RichText): Part[] {
  return split(text).map((piece) => ({
    method: 'sendMessage',
    media: {},
    textField: 'text',
    text: piece,
  }));
}

/** The fields of a text: as HTML where it has marks, else as it is. */
export function textFields(
  field: Part['textField'],
  rich: RichText,
  isPlain = false,
): Readonly<Record<string, string>> {
  if (rich.text === '') return {};
  if (isPlain || rich.marks.length === 0) return { [field]: rich.text };
  return { [field]: toHtml(rich), parse_mode: 'HTML' };
}
