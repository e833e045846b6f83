import type { ChannelCapabilities, StreamSender } from '../stream/index.js';
import type { ExplicitRoute, InboundMessage, Interaction, SendResult } from './message.js';
import type { SendPermit } from './permit.js';
import type { StreamPermits } from './stream-permits.js';

/** Something that came in, as its channel got it. */
export interface InboundUpdate {
  /** As the provider made it. It passes by reference: nobody writes it. */
  readonly raw: unknown;
  /**
   * The id that the provider gave it: never the same for two updates of an account, also after a restart. With a
   * journal, one that has come before is not handled again. Leave it out where there is none.
   */
  readonly updateId?: string;
  /** Milliseconds since 1970, by default those of the host's clock. */
  readonly receivedAtMs?: number;
}

/**
 * How a channel knows the sender of an update (judgement §1.5). `account`: its provider has proven it, by the account of the sender.
 * `local`: it is the person at this machine, who owns the host; only a channel that the maker of the host gives may say so. Absent if
 * nobody has proven it, as of a post in the name of a group.
 */
export type SenderProof = 'account' | 'local';

/** The result of `decodeIngress`. Failures are values: they end that message visibly, and no other. */
export type DecodedIngress =
  | {
      readonly kind: 'message';
      readonly message: InboundMessage;
      /** Named by the source itself: it is not re-routed. */
      readonly route?: ExplicitRoute;
      readonly senderProof?: SenderProof;
    }
  /**
   * A command that its surface knows as one: `interaction.*` and `command.*` tell of it, `ingress.normalized` does not.
   * The message's content is the command line; it says where the command is routed and answered.
   */
  | {
      readonly kind: 'command';
      readonly interaction: Interaction;
      readonly message: InboundMessage;
      readonly route?: ExplicitRoute;
      readonly senderProof?: SenderProof;
    }
  /** A button, a list or a form that was used: `interaction.*` alone tell of it. */
  | {
      readonly kind: 'interaction';
      readonly interaction: Interaction;
      readonly senderProof?: SenderProof;
    }
  /** Nothing to answer: an empty line, an edit, a delivery report. */
  | { readonly kind: 'ignored'; readonly reason: string }
  /** It should have been a message, and cannot be read. */
  | { readonly kind: 'undecodable'; readonly problem: string; readonly path?: string };

/** The host's policy for sends that did not go through. It is declared, so that nothing is ever resent blindly. */
export interface ResendPolicy {
  /**
   * An ambiguous send: give it up (`fail`), send it again under its idempotency key, which the provider knows
   * (`resend`), or ask the operator (`ask`; without anyone to ask it is given up).
   */
  readonly ambiguous: 'fail' | 'resend' | 'ask';
  /** Attempts in all, the first included. */
  readonly maxAttempts: number;
  /** Milliseconds to spend waiting on `retry-after`, in all. */
  readonly maxWaitMs: number;
}

/** The inbox of one account: a channel tells the host through it. */
export interface ChannelInbox {
  /**
   * Hands an update over. The order of calls is kept within a conversation. Resolves when the channel may bring more: of
   * one that can wait (`capabilities.canWait`) when there is room, of others soon, whatever a conversation does. Never
   * rejects.
   *
   * @returns `refused` if the host could not take the update in: it is not acknowledged, and should be brought again.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: an inbox that refuses nothing returns nothing
  receive(update: InboundUpdate): Promise<void | 'refused'>;
  /**
   * Returns whether the host that runs this account has made a permit. A channel asks before it takes the message: what else in the
   * process holds the channel cannot send by it then (spec §14.14). Absent where no host runs it.
   */
  readonly owns?: (permit: SendPermit) => boolean;
  /** Aborts when another host has the account, at the latest with a write under it: if one host at a time connects the account. */
  readonly lost?: AbortSignal;
  /** Says that no more will come: the input ended, or the connection is gone for good. */
  ended(why: { readonly reason: string; readonly error?: unknown }): void;
}

/** The circumstances of one send. */
export interface SendContext {
  /**
   * Aborts when the host does not wait for the answer any longer: its time is up, or the host stops. Begin nothing more then. Let
   * a call that is under way end: if it is cut off, nobody knows whether its message is out.
   */
  readonly signal: AbortSignal;
  /** The id of the event that it comes of: if it answers an update, the same for all that answer that one. */
  readonly correlationId?: string;
}

/** The end of an update, as its channel learns it. */
export interface UpdateEnd {
  readonly updateId?: string;
  /** How it ended, such as `answered`; `known` if it had ended before and came again. */
  readonly status: string;
  /** The reason in one line, if it did not end well. */
  readonly reason?: string;
  /** The code of the veto that cancelled it, or a reply to it. */
  readonly cancelCode?: string;
  /** The id of the event that it began, as `SendContext` has it. */
  readonly correlationId?: string;
}

/**
 * A channel: where messages come from and go to.
 *
 * @example
 * const channel: ChannelPlugin = {
 *   id: 'null', capabilities: {}, accounts: ['default'],
 *   resendPolicy: { ambiguous: 'fail', maxAttempts: 1, maxWaitMs: 0 },
 *   startAccount: async () => {}, stopIntake: async () => {}, stopAccount: async () => {},
 *   decodeIngress: () => ({ kind: 'ignored', reason: 'nothing comes here' }),
 *   send: async (permit) => { permit.take(); return { status: 'sent', receipt: {} }; },
 * };
 */
export interface ChannelPlugin {
  /** The name that events, routes and config know it by. */
  readonly id: string;
  readonly capabilities: ChannelCapabilities;
  readonly resendPolicy: ResendPolicy;
  /** Its accounts, by id. */
  readonly accounts: readonly string[];
  /**
   * Looks at what an account would be started with, without connecting it: a token that is missing, or that cannot be
   * right. `sluice doctor` asks. Rejects where `startAccount` would, saying what to do and never what the secret is.
   */
  checkAccount?(accountId: string): Promise<void>;
  /**
   * Connects an account. It may call the inbox from then on. A rejection disables this account alone. An error
   * with `retryAfterMs` does not: the host starts it again, after waits that grow and are no shorter than these milliseconds (spec §14.18).
   */
  startAccount(accountId: string, inbox: ChannelInbox): Promise<void>;
  /** Takes no more updates in. Sends must still work. */
  stopIntake(accountId: string): Promise<void>;
  /** Disconnects an account for good. */
  stopAccount(accountId: string): Promise<void>;
  /** Makes a message of an update, when it comes: its lane depends on its conversation. Pure, and does not throw. */
  decodeIngress(raw: unknown, accountId: string): DecodedIngress;
  /**
   * Tells the provider that an update need not come again. If the host's journal outlives the host (a file does), it is called
   * when the update is kept, and again when the update comes again. Otherwise it is called when the update has ended.
   */
  ack?(accountId: string, update: InboundUpdate): Promise<void>;
  /** The faults that it knows of now in accounts that the host has started (sight §7): names and numbers, no text of anybody. Never throws. */
  troubles?(): readonly { readonly accountId: string; readonly what: string }[];
  /** Is told of the end of an update that this host took in, once. Its replies have ended before. What it throws is told. */
  updateEnded?(accountId: string, end: UpdateEnd): void;
  /** Sends one message: the one that the permit holds, once. */
  send(permit: SendPermit, context: SendContext): Promise<SendResult>;
  /**
   * Makes the renderer of one reply that grows. Needs `capabilities.canStreamResponse`. It shows nothing by itself; where
   * it throws, the reply goes out by `send`.
   */
  createStreamSender?(permits: StreamPermits): StreamSender;
  /** Ends previews that a host has left when it died. Without it nobody knows what became of them: their sends fail. */
  readonly previews?: ChannelPreviews;
}

declare module '../extension/define/provisions.js' {
  interface Provisions {
    /** The host starts its accounts, and stops them when the extension goes. */
    channel: ChannelPlugin;
  }
}

/** A preview that a host before this one has left. */
export interface LeftPreview {
  /** The last note that its stream sender gave to `permits.noteShown`: read it as something from outside. */
  readonly shown: unknown;
  /** As `permits.noteShown`: it takes the place of what was noted before. */
  readonly noteShown: (shown: unknown) => Promise<void>;
}

/**
 * Brings previews to an end that a host has left when it died (durability §7.2). A channel has it where it can edit or
 * remove what a stream sender has shown, by what the sender has noted. Both may be called again for the same preview,
 * after a further death: what was done before is done then.
 *
 * @example
 * previews: {
 *   takeBack: async (shown) => (await remove(idIn(shown))) === 'gone',
 *   complete: async (permit, { shown }) => {
 *     const { content } = permit.take();
 *     return (await edit(idIn(shown), content)) === 'there'
 *       ? { status: 'sent', receipt: { messageId: idIn(shown) } }
 *       : { status: 'ambiguous', reason: 'it could not be edited' };
 *   },
 * }
 */
export interface ChannelPreviews {
  /** Takes a preview back. @returns whether nothing of it is shown any more, also if somebody else has removed it. */
  takeBack(shown: unknown, accountId: string): Promise<boolean>;
  /**
   * Puts the permit's message in the place of a preview, which may show it already. It may go elsewhere than the preview:
   * then the preview is taken back. If a message takes several sends, note before the first of them that they have
   * begun: whoever finds it half done must not send again.
   */
  complete(permit: SendPermit, preview: LeftPreview): Promise<SendResult>;
}
