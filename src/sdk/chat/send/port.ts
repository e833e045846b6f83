/** The reason of a refusal, if it changes the next step. */
export type RefusalCause =
  /** Not now: the call may be made again. */
  | 'busy'
  /** The provider could not read the markup; it has shown nothing. */
  | 'markup'
  /** The message is so already. */
  | 'unchanged'
  /** The message is not there any more. */
  | 'gone'
  /** Nobody may write there any more. */
  | 'forbidden';

/** The end of a call to a provider. Nothing is thrown, and no text in it holds a secret. */
export type CallAnswer<T> =
  | { readonly status: 'done'; readonly result: T }
  /** The provider answered that it did not do it. */
  | {
      readonly status: 'refused';
      readonly reason: string;
      readonly cause?: RefusalCause;
      readonly retryAfterMs?: number;
    }
  /** The call did not get there: it was not done. */
  | { readonly status: 'unreached'; readonly reason: string }
  /** Nobody knows whether it was done. */
  | { readonly status: 'unknown'; readonly reason: string };

/** The id of a message at its provider. */
export type MessageId = string | number;

/** A message that a provider took. */
export interface PostedMessage {
  readonly messageId: MessageId;
  /** Milliseconds since 1970. */
  readonly sentAtMs?: number;
}

/** The circumstances of a call that shows a part of a message. */
export interface PartCall {
  /** Milliseconds until it counts as unknown. */
  readonly timeoutMs: number;
  /** Leaves the markup out. */
  readonly isPlain: boolean;
  /** The first part of its message: it says what the message answers. */
  readonly isFirst: boolean;
  /** The last part of its message: the buttons stand under it. */
  readonly isLast: boolean;
}

/** The circumstances of a call that posts a part. */
export interface PostCall extends PartCall {
  /** The same whenever this part is posted, and for no other: a provider that knows it posts the part once. */
  readonly key: string;
}

/** The calls that show one message at its place. A part is one call; its channel knows what is in it. */
export interface ChatPort<Part> {
  /** The chat, as the note of a preview keeps it. */
  readonly chatId: string | number;
  /** The conversation that receipts name. */
  readonly conversationId: string;
  /** The place as a text: the chat, its thread, and the message that is answered. */
  readonly place: string;
  post(part: Part, call: PostCall): Promise<CallAnswer<PostedMessage>>;
  edit(messageId: MessageId, part: Part, call: PartCall): Promise<CallAnswer<unknown>>;
  remove(messageId: MessageId, timeoutMs: number): Promise<CallAnswer<unknown>>;
}
