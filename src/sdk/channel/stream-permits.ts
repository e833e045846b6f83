import { channelError } from './errors.js';
import type { SendResult } from './message.js';
import type { SendApproval, SendPermit } from './permit.js';

/**
 * The permits of the sender of one streamed reply. Each of the two can be used once.
 *
 * @example
 * async onFinal() {
 *   const permit = permits.final();
 *   if (permit === undefined) return;
 *   const { content } = permit.take(); // this is shown, whatever the delta says
 *   const messageId = await edit(content);
 *   permits.report({ status: 'sent', receipt: { messageId } });
 * }
 */
export interface StreamPermits {
  /**
   * Covers all that is shown before the final: take it with the first part. Its message is what `egress.preparing`
   * passed to open the stream, and says where to show it; what is shown is the deltas' text.
   */
  readonly opening: SendPermit;
  /**
   * The permit of the final. It is there before `onFinal` is called: the whole text has passed
   * `egress.preparing` again, and its message, not the delta's text, is what the final shows.
   */
  readonly final: () => SendPermit | undefined;
  /**
   * Reports the result of the final before `onFinal` settles: its receipt, or the reason why it was not delivered. The last
   * report counts. Without one the final counts as sent if `onFinal` has taken its permit and resolves, and as ambiguous if it
   * has taken it and rejects. A final whose permit was not taken was not shown: it goes out by `send`.
   */
  readonly report: (result: SendResult) => void;
  /**
   * Notes what is shown at the provider, as soon as that is known, and again when it changes: plain data as JSON has it,
   * by which `ChannelPlugin.previews` finds it after a crash. The last note stands. Resolves when it is kept; rejects if
   * it cannot be. Without a journal nothing is kept.
   */
  readonly noteShown: (shown: unknown) => Promise<void>;
  /**
   * Returns whether what is shown may be taken back. A channel with `previews` asks each time before it does. If not, it leaves all as it
   * is: another host has taken the message over, and puts the final there, or takes it back.
   */
  readonly mayTakeBack: () => Promise<boolean>;
}

/**
 * The two approvals of one streamed reply (spec §14.6): the opening's, then the final's. It stays with the host; the
 * sender sees the permits.
 *
 * @example
 * const stream = new StreamApproval(approveSend(opening));
 * const sender = channel.createStreamSender?.(stream.permits);
 * await sender?.onContentDelta(delta);
 * stream.admitFinal(approveSend(final));
 * await sender?.onFinal(last);
 */
export class StreamApproval implements Disposable {
  readonly permits: StreamPermits;
  readonly opening: SendApproval;
  #final: SendPermit | undefined;
  #reported: SendResult | undefined;

  /**
   * @param options.noteShown keeps the notes of the sender; `mayTakeBack` says that they are this host's still.
   * @throws SluiceError `not-streaming` if the approved message does not say that it streams.
   */
  constructor(
    opening: SendApproval,
    { noteShown, mayTakeBack }: Partial<Pick<StreamPermits, 'noteShown' | 'mayTakeBack'>> = {},
  ) {
    if (!opening.message.streaming)
      throw channelError('not-streaming', { what: opening.idempotencyKey });
    this.opening = opening;
    this.permits = Object.freeze({
      opening: opening.mintPermit(),
      final: () => this.#final,
      report: (result: SendResult) => {
        this.#reported = result;
      },
      noteShown: noteShown ?? (async () => undefined),
      mayTakeBack: mayTakeBack ?? (async () => true),
    });
  }

  /** The sender's report of the final. */
  get reported(): SendResult | undefined {
    return this.#reported;
  }

  /** Returns whether a final goes to the place of the stream: the same channel, account, address and thread, in reply to the same. */
  fits({ message: final }: SendApproval): boolean {
    const { message } = this.opening;
    return (
      final.channel === message.channel &&
      final.accountId === message.accountId &&
      final.to === message.to &&
      final.replyToId === message.replyToId &&
      String(final.threadId ?? '') === String(message.threadId ?? '')
    );
  }

  /**
   * Lets the sender show a final. Parts of it can be shown no more.
   *
   * @throws SluiceError `stream-moved` if it goes elsewhere, `permit-unused` if its last permit can still be used.
   */
  admitFinal(final: SendApproval): SendPermit {
    if (!this.fits(final)) throw channelError('stream-moved', { what: final.idempotencyKey });
    this.#end(this.permits.opening);
    this.#reported = undefined;
    this.#final = final.mintPermit();
    return this.#final;
  }

  /** Uses the permits up, so that a late sender shows nothing. */
  [Symbol.dispose](): void {
    this.#end(this.permits.opening);
    this.#end(this.#final);
  }

  #end(permit: SendPermit | undefined): void {
    if (permit?.used === false) permit.take();
  }
}
