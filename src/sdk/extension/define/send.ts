import type { CancelRecord, Envelope, PayloadOf } from 'sluice-kernel';
import type { Moment } from '../named/schedule.js';

type Outgoing = PayloadOf<'egress.preparing'>;

/** A message that an extension sends (extensions-that-act §4). */
export interface ExtensionMessage
  extends Pick<Outgoing, 'to' | 'content'>,
    Partial<
      Pick<Outgoing, 'threadId' | 'format' | 'attachments' | 'interactive' | 'silent' | 'metadata'>
    > {
  /** The channel to send by: the grant `send:CHANNEL` is for it. */
  readonly channel: string;
  /** The account to send as; the first of the channel that runs if absent. */
  readonly accountId?: string;
  /** The name of the send in this extension: the same key is sent once. */
  readonly key?: string;
  /** The call or the outcome that it follows: the send gets its correlation, and counts as one step further. */
  readonly after?: { readonly event: Envelope };
}

/** A message that goes out at a time. */
export interface LaterMessage extends ExtensionMessage {
  /** When it goes out: ahead, and within ten years. A text without an offset is read in UTC. */
  readonly at: Moment;
}

/** The end of one send, as its one terminal egress event tells it. */
export interface SendReport {
  readonly status: 'sent' | 'cancelled' | 'failed';
  /** The text as it was approved; as it was prepared if it was not approved. */
  readonly content: string;
  readonly channel?: string;
  readonly accountId?: string;
  readonly attempts: number;
  readonly receipt?: PayloadOf<'egress.sent'>['receipt'];
  /** The cancel with its author; without ids if no handler cancelled it, but the agent took it back. */
  readonly cancel?: Pick<CancelRecord, 'code'> & Partial<CancelRecord>;
  readonly error?: string;
  /** Set if its host stopped and nothing of it is out: the next host of the journal says it. */
  readonly isLeft?: boolean;
  /** The keys under which handlers of its terminal event have filed it. */
  readonly indexKeys: readonly string[];
}

/** A send that is kept. */
export interface KeptSend {
  /** The id of its `egress.preparing`, and its idempotency key. The same for the same key, also after a restart. */
  readonly sendId: string;
  /**
   * Its end; never rejects. Do not wait for it in a handler of the `egress.*` events of a send to the same address: that send
   * has to end first.
   */
  readonly ended: Promise<SendReport>;
}

/** How a text is injected. */
export interface InjectOptions {
  /** The name of the text in this extension: the same key is written once. */
  readonly key?: string;
}
