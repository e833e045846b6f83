import type { ApprovedMessage } from 'sluice/channel';
import * as chat from 'sluice/chat';

/** The longest text of one message, in UTF-16 units: Slack shows longer ones, and does not let them be edited. */
export const messageLimit = 3_900;
/** The longest text beside a file. */
const captionLimit = 1_000;

/** One call that sends: a text, with a picture from the web or not; or a file, with a text beside it. */
export interface Part {
  readonly text: chat.RichText;
  /** The address of a picture that Slack fetches. */
  readonly image?: string;
  readonly file?: { readonly path: string; readonly name: string };
}

/** Makes the calls that send a message: its text, cut where it must be, and its files. */
export async function partsOf(
  message: Pick<ApprovedMessage, 'attachments' | 'to'>,
  mediaRoots: readonly string[],
  whole: chat.RichText,
): Promise<chat.MessageParts<Part> | chat.Unsendable> {
  const text = chat.trimmed(whole);
  const parts: Part[] = chat.split(text, messageLimit).map((piece) => ({ text: piece }));
  const startsWithText = parts.length > 0;
  for (const attachment of message.attachments) {
    const found = await chat.fileSource(attachment, mediaRoots);
    if (found.kind === 'problem') return { problem: found.problem };
    if (found.kind === 'id')
      return { problem: `Slack sends no file by its id ("${found.id}"): give its address or path` };
    const said = chat.split(chat.trimmed(chat.plainText(attachment.caption ?? '')), captionLimit);
    const isShown = found.kind === 'file' || attachment.kind === 'image';
    const caption = (isShown ? said.shift() : undefined) ?? chat.plainText('');
    if (found.kind === 'file') parts.push({ text: caption, file: found });
    else if (isShown) parts.push({ text: caption, image: found.url });
    else parts.push({ text: linkTo(found.url, attachment.name) });
    parts.push(...said.map((text) => ({ text }))); // the rest of what is said of it
  }
  return parts.length > 0 ? { parts, startsWithText } : { problem: 'there is nothing to send' };
}

/** A file on the web, which Slack does not fetch. */
function linkTo(url: string, name?: string): chat.RichText {
  const text = name || url;
  return { text, marks: [{ from: 0, to: text.length, tag: 'a', href: url }] };
}
