import type { Trail } from '@sluice/agent';
import {
  approveSend,
  type ChannelPlugin,
  type SendApproval,
  StreamApproval,
  type StreamPermits,
} from '@sluice/sdk/channel';
import type { StreamDelta, StreamSender } from '@sluice/sdk/stream';
import type { StopSignal } from 'sluice-kernel/internal';
import type { TakenBack } from '../egress/end-send.js';
import type { PreparedSend } from '../egress/prepare-send.js';
import { type AttemptResult, answerOf, reportSending, resultOf } from '../egress/send-attempt.js';
import { type CallEnd, callWithin } from '../parts/attempt.js';
import type { SendParts } from '../parts/parts.js';
import type { RunningAccount } from '../provided/accounts.js';

/** A part of a reply that grows. Each replaces the one before. */
export type StreamPart = StreamDelta & { phase: 'thinking' | 'content' };

/** Milliseconds that taking back what was shown may take. The host may be waiting to stop. */
const abortTimeoutMs = 5_000;

/**
 * The preview of one reply: a prepared send, its permits, and the sender of its channel. The sender gets one call at a
 * time, each with an end, and none that throws into its caller. One that fails is asked to take back what it has shown,
 * and is then left alone.
 */
export class Preview implements Disposable {
  readonly prepared: PreparedSend;
  readonly trail: Trail;
  readonly #parts: SendParts;
  /** Stops waiting for the sender. */
  readonly #signal: StopSignal;
  readonly #approval: StreamApproval;
  /** Absent if the channel cannot show a reply that grows, and once it has failed, ended or taken all back. */
  #sender: StreamSender | undefined;
  /** The channel of the sender: a reload may have put another channel in its place when the final comes. */
  #channel: ChannelPlugin | undefined;
  /** The journal knows what it shows. Without that nobody else does. */
  #isNoted = false;
  /** The last call of the sender failed. */
  #mayStay = false;

  /** @param prepared has passed `egress.preparing` as the opening of a stream. */
  constructor(parts: SendParts, trail: Trail, prepared: PreparedSend, signal: StopSignal) {
    this.prepared = prepared;
    this.trail = trail;
    this.#parts = parts;
    this.#signal = signal;
    const { outcome } = prepared;
    const keep = noteShownOf(parts, outcome);
    this.#approval = new StreamApproval(approveSend(outcome, parts.kernel), {
      noteShown: async (shown) => {
        await keep(shown);
        this.#isNoted = true;
      },
      mayTakeBack: async () =>
        !this.#isNoted || parts.outbox.mayTakeBack(parts, outcome.event.eventId),
    });
  }

  /** Has the channel make its sender. */
  async begin(): Promise<void> {
    const { opening, permits } = this.#approval;
    const { channel: id, accountId } = opening.message;
    const channel = this.#parts.accounts.find(id, accountId)?.channel;
    if (channel?.capabilities.canStreamResponse !== true) return;
    if (!(await reportSending(this.trail, opening, permits.opening, this.#signal))) return;
    try {
      this.#sender = channel.createStreamSender?.(permits);
      this.#channel = channel;
    } catch (error) {
      this.#parts.logger.error(`channel "${channel.id}" made no stream sender`, { error });
    }
  }

  /** Shows a part. Resolves when the sender is ready for another. */
  async show(part: StreamPart): Promise<void> {
    const sender = this.#sender;
    if (sender === undefined) return;
    const { status } = await this.#call(part.phase, () =>
      part.phase === 'thinking' ? sender.onThinkingDelta(part) : sender.onContentDelta(part),
    );
    if (status !== 'returned') await this.takeBack();
  }

  /**
   * Has the sender show the final, under a permit of its own (spec §14.9). Whatever comes of it, the final is never
   * shown twice: it is said not to be shown only if its permit was not taken, and can be taken no more. A preview of
   * what was not delivered is taken back.
   *
   * @param final has passed `egress.preparing`.
   */
  async finish(trail: Trail, account: RunningAccount, final: SendApproval): Promise<AttemptResult> {
    const result = await this.#showFinal(trail, account, final);
    if (result.status === 'sent') this.#sender = undefined;
    else await this.takeBack(); // the sender knows what of it is a preview still
    return result;
  }

  async #showFinal(
    trail: Trail,
    { channel }: RunningAccount,
    final: SendApproval,
  ): Promise<AttemptResult> {
    const sender = this.#sender;
    if (sender === undefined || channel !== this.#channel) return { status: 'not-shown' };
    if (this.#signal.aborted) return { status: 'aborted' };
    const { attachments, interactive, content } = final.message;
    const isPlain = attachments.length === 0 && interactive === undefined;
    if (!isPlain || !this.#approval.fits(final)) return { status: 'not-shown' };
    const permit = this.#approval.admitFinal(final);
    if (!(await reportSending(trail, final, permit, this.#signal))) return { status: 'aborted' };
    const end = await this.#call('final', () => sender.onFinal({ phase: 'final', content }));
    if (permit.used) {
      const { reported } = this.#approval;
      if (reported !== undefined) return answerOf(reported);
      const implied = { status: 'sent', receipt: {} } as const;
      const meant = end.status === 'returned' ? { ...end, value: implied } : end;
      return resultOf(meant, this.#parts.sendTimeoutMs, 'stream sender');
    }
    permit.take(); // so that a sender that is late cannot show it beside the send that follows
    if (end.status !== 'returned') return end.status === 'aborted' ? end : { status: 'not-shown' };
    const reason = `the stream sender of channel "${channel.id}" took no message from the permit of its final`;
    return { status: 'threw', reason };
  }

  /** Tells the sender that the reply failed: it takes back what it has shown, or says so in its own way. */
  async fail(error: string): Promise<void> {
    await this.#leave('error', (sender) => sender.onError({ phase: 'error', error }));
  }

  /** Has what was shown taken back. The second time there is nothing left to take. */
  async takeBack(): Promise<TakenBack> {
    await this.#leave('abort', (sender) => sender.abort());
    if (this.#isNoted && this.#parts.suspension?.isSuspended === true) return 'left';
    return this.#mayStay ? 'may-stay' : 'gone';
  }

  /** Uses the permits up, so that a late sender shows nothing. */
  [Symbol.dispose](): void {
    this.#approval[Symbol.dispose]();
  }

  /** The last call of a sender. */
  async #leave(phase: string, call: (sender: StreamSender) => Promise<void>): Promise<void> {
    const sender = this.#sender;
    this.#sender = undefined;
    if (sender === undefined) return;
    const { clock } = this.#parts;
    const end = await callWithin(() => call(sender), clock, abortTimeoutMs);
    this.#mayStay = this.#report(phase, end).status !== 'returned';
  }

  async #call(phase: string, call: () => Promise<void>): Promise<CallEnd<void>> {
    const { clock, sendTimeoutMs } = this.#parts;
    return this.#report(phase, await callWithin(call, clock, sendTimeoutMs, this.#signal));
  }

  #report(phase: string, end: CallEnd<void>): CallEnd<void> {
    if (end.status === 'returned' || end.status === 'aborted') return end;
    const detail = end.status === 'threw' ? end.reason : 'it did not answer in time';
    const code = end.status;
    this.#parts.logger.error(`a stream sender failed at "${phase}"`, { code, detail });
    return end;
  }
}

/** Makes the function that keeps, with a send, what a channel notes of its preview. */
export function noteShownOf(
  parts: SendParts,
  outcome: PreparedSend['outcome'],
): StreamPermits['noteShown'] {
  return async (shown) => {
    const unpersisted = await parts.outbox.noteShown(parts, outcome, shown);
    if (unpersisted !== undefined) throw new Error(unpersisted);
  };
}
