import type { Clock } from 'sluice-kernel';
import type { ApprovedMessage } from '../../channel/index.js';
import type { RichText } from '../text/rich-text.js';
import type { ChatPort } from './port.js';

/** A reason why a message is not sent. */
export interface Unsendable {
  readonly problem: string;
}

/** The calls that a message takes, in order. */
export interface MessageParts<Part> {
  readonly parts: readonly Part[];
  /** The first part is a text: it can take the place of a preview. */
  readonly startsWithText: boolean;
  readonly problem?: undefined;
}

/** The provider of a channel, as the sender of messages, the sender of streams and the previews know it. */
export interface ChatSurface<Part> {
  /** The way to the place of a message. */
  at(message: ApprovedMessage): ChatPort<Part> | Unsendable;
  /** The way to the chat of a preview that was noted. @throws if the account is not connected. */
  atChat(accountId: string, chatId: string | number): ChatPort<Part>;
  /**
   * The text of a message, read as its format says.
   *
   * @param readMarkdown reads Markdown; by default `fromMarkdown`. A text that grows is read in another way.
   */
  textOf(
    message: Pick<ApprovedMessage, 'content' | 'format'>,
    readMarkdown?: (markdown: string) => RichText,
  ): RichText;
  /**
   * Makes the parts of a message.
   *
   * @param text takes the place of the message's own text, in parts of its own: none of it stands under a file.
   */
  partsOf(message: ApprovedMessage, text?: RichText): Promise<MessageParts<Part> | Unsendable>;
  /** The part that shows a text while it grows. */
  growing(text: RichText): Part;
  /** Milliseconds from an edit at the place of a message to the next; asked for before each edit. */
  intervalMs(message: ApprovedMessage): number;
}

/** The parts that sending works with. */
export interface SendParts<Part> {
  readonly surface: ChatSurface<Part>;
  readonly clock: Clock;
  /** Gives up waiting: read when a send or a stream begins, since an account that was stopped may start again. */
  readonly signal: AbortSignal;
}
