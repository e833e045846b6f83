import { channelError } from './errors.js';
import type { SendApproval, SendPermit } from './permit.js';
import type { SendResult } from './send-result.js';

/**
 * What the sender of one streamed reply holds. Each of the two permits can be used once.
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
   * Says how the final went, before `onFinal` settles: its receipt, or why it was not delivered. The last report
   * counts. Without one it was sent where `onFinal` has taken the final's permit and resolves, and nobody knows its end
   * where it has and rejects. A final whose permit was not taken was not shown: it goes out by `send`.
   */
  readonly report: (result: SendResult) => void;
  /**
   * Notes what is shown at the provider, as soon as that is known, and again where it changes: plain data as JSON has it,
   * by which `ChannelPlugin.previews` finds it after a crash. The last one stands. Resolves when it is kept; rejects where
   * it cannot be. Without a journal nothing is kept.
   */
  readonly noteShown: (shown: unknown) => Promise<void>;
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
   * @param options.noteShown keeps the notes of the sender.
   * @throws SluiceError `not-streaming` if the approved message does not say that it streams.
   */
  constructor(
    opening: SendApproval,
    { noteShown }: Partial<Pick<StreamPermits, 'noteShown'>> = {},
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
    });
  }

  /** What the sender said of the final. */
  get reported(): SendResult | undefined {
    return this.#reported;
  }

  /** Whether a final goes where the stream is: to the same channel, account, address and thread, in reply to the same. */
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
   * @throws SluiceError `stream-moved` where it goes elsewhere, `permit-unused` where its last permit can still be used.
   */
  admitFinal(final: SendApproval): SendPermit {
    if (!this.fits(final)) throw channelError('stream-moved', { what: final.idempotencyKey });
    this.#end(this.permits.opening);
    this.#reported = undefined;
    this.#final = final.mintPermit();
    return this.#final;
  }

  /** Uses the permits up: a sender that is late shows nothing. */
  [Symbol.dispose](): void {
    this.#end(this.permits.opening);
    this.#end(this.#final);
  }

  #end(permit: SendPermit | undefined): void {
    if (permit?.used === false) permit.take();
  }
}
