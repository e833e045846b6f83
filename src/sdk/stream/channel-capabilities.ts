/** An element of a message that people use: buttons, a list, a form (spec §14.16). */
export type InteractiveElement = 'buttons' | 'list' | 'form';

/** The abilities of a channel, so that nobody has to try them. An absent one means that the channel cannot. */
export interface ChannelCapabilities {
  /** It renders a reply while it grows: `createStreamSender` is there, too. */
  readonly canStreamResponse?: boolean;
  /** It has threads within conversations. */
  readonly threads?: boolean;
  /** It takes nothing in: a host does not wait for more of it. */
  readonly sendsOnly?: boolean;
  /** It proves nobody: no sender of it has a role. */
  readonly provesNobody?: boolean;
  /** It takes files. */
  readonly attachments?: boolean;
  /** The elements that it shows, or numbers itself. The host writes the others into the text. */
  readonly interactive?: readonly InteractiveElement[];
  /** It drops a send that it has seen before, by `SendPermit.idempotencyKey`. */
  readonly deduplicatesSends?: boolean;
  /**
   * It is one conversation, and who writes can wait: a pipe. If the conversation is full the host has it wait, in place of
   * refusing or keeping what comes.
   */
  readonly canWait?: boolean;
  /**
   * Several hosts may connect one of its accounts at the same time, and each can send by it: a webhook, say, but not a poll, a
   * socket or a terminal. Of several hosts that share a journal each connects it. Without it one host does at a time, and handles
   * all messages of the account.
   */
  readonly everyHost?: boolean;
}
