import type { Trail } from '@sluice/agent';
import type { SendReport } from '@sluice/journal';
import {
  approveSend,
  type ChannelPlugin,
  StreamApproval,
  type StreamPermits,
} from '@sluice/sdk/channel';
import { oneLine } from 'sluice-kernel/internal';
import { type Attempt, deliver, deliverPrepared } from '../egress/delivery.js';
import {
  deferredSend,
  endOfUnpassed,
  endSend,
  failedSend,
  type SendEnd,
  suspendedReport,
  suspendedSend,
} from '../egress/end-send.js';
import { type OutgoingMessage, type PreparedSend, prepareSend } from '../egress/prepare-send.js';
import { reportSending } from '../egress/send-attempt.js';
import type { SendParts } from '../parts/parts.js';
import { isPreviewOk } from './may-stream.js';
import { SenderDriver, type StreamPart, sendFinal } from './sender-driver.js';

/** The options of a streamed reply. */
export interface StreamedReplyOptions {
  readonly parts: SendParts;
  /** The trail of its dispatches: forked for each of them. */
  readonly trail: Trail;
  /** The reply, but for its text. Its kind is that of a plain send: `block`, `reply`, `reasoning`. */
  readonly message: Omit<OutgoingMessage, 'content'>;
  readonly signal: AbortSignal;
  /** The promise of all that has to be out before any of this is shown. */
  readonly after?: Promise<unknown>;
}

/** A stream that `egress.preparing` has let begin. */
interface Opened {
  readonly prepared: PreparedSend;
  readonly trail: Trail;
  readonly approval: StreamApproval;
  /** Shows it; absent if the channel cannot. */
  readonly driver: SenderDriver | undefined;
  /** The channel of that sender: a reload may have put another channel in its place when the final comes. */
  readonly channel: ChannelPlugin | undefined;
  /** The journal knows what it shows. */
  readonly note: { readonly isThere: boolean };
}

/**
 * One reply that is shown while it grows (spec §14.6 to §14.10): judged before anything of it is visible and again as
 * its final; one prepared send, with one end. A reply of which nothing was shown yet is an ordinary send.
 *
 * Parts may come faster than they can be shown: the newest counts. `finish`, `fail` and `withdraw` end it; exactly one
 * of them is called, once.
 */
export class StreamedReply {
  readonly #options: StreamedReplyOptions;
  /** Its conversation, as long as it has it. */
  #place: Disposable | undefined;
  #newest: StreamPart | undefined;
  #showing: Promise<void> | undefined;
  #isEnding = false;
  #opened: Opened | undefined;
  /** How its opening ended, where it was not let pass: nothing of the reply goes out. */
  #refused: SendReport | undefined;

  constructor(options: StreamedReplyOptions) {
    this.#options = options;
  }

  /** Shows what the reply is now. Returns at once, and never throws. */
  show(part: StreamPart): void {
    if (this.#isEnding) return;
    this.#newest = part;
    this.#showing ??= this.#showAll().finally(() => {
      this.#showing = undefined;
    });
  }

  /**
   * Sends the reply as it is in the end.
   *
   * @throws what a dispatch of a plain send throws: a closed kernel.
   */
  async finish(message: OutgoingMessage): Promise<SendReport> {
    await this.#end();
    using _place = this.#place;
    if (this.#refused !== undefined) return this.#refused;
    const { parts, trail, signal } = this.#options;
    const opened = this.#opened;
    if (parts.suspension?.isSuspended)
      return (await this.#endWithout(suspendedSend())) ?? suspendedReport(message);
    const fork = trail.fork();
    if (opened === undefined) return deliver(parts, fork, message, signal);
    using _permits = opened.approval;
    const { outcome } = opened.prepared;
    const { correlationId } = outcome.event;
    fork.carry({ correlationId });
    const final = {
      ...message,
      kind: streamKind(message.kind, 'stream-final'),
      openedBy: outcome.event.eventId,
    };
    let prepared: PreparedSend;
    try {
      prepared = await prepareSend(parts, fork, final, {
        ...{ streaming: false, signal, goesOut: true },
        persistedAs: message.kind,
      });
    } catch (error) {
      return this.#endOpening(opened, failedSend('threw', oneLine(error)));
    }
    const { driver, approval, channel } = opened;
    const takeBack = async (): Promise<boolean> => {
      await driver?.abort();
      return this.#isLeft(opened);
    };
    const show: Attempt = async (account, send) => {
      if (driver !== undefined && !driver.isOver && account.channel === channel)
        return sendFinal(parts, fork, { account, final: send, driver, approval, signal });
      await takeBack();
      return { status: 'not-shown' };
    };
    return deliverPrepared(parts, fork, prepared, signal, show, takeBack);
  }

  /** Ends it without a final: its agent failed. @returns how it ended, where it had begun. */
  async fail(error: string): Promise<SendReport | undefined> {
    await this.#end();
    using _place = this.#place;
    await this.#opened?.driver?.fail({ phase: 'error', error });
    return this.#endWithout(failedSend('agent-failed', error));
  }

  /** Takes back what was shown: somebody stopped it, or there is no such reply. @returns as `fail`. */
  async withdraw(why: 'aborted' | 'withdrawn'): Promise<SendReport | undefined> {
    await this.#end();
    using _place = this.#place;
    await this.#opened?.driver?.abort();
    return this.#endWithout(
      why === 'aborted'
        ? failedSend('aborted', 'it was stopped before it was whole')
        : {
            status: 'cancelled',
            cancel: { code: 'withdrawn', text: 'the agent took it back' },
            attempts: 0,
          },
    );
  }

  #end(): Promise<void> | undefined {
    this.#isEnding = true;
    this.#newest = undefined;
    return this.#showing;
  }

  async #endWithout(end: SendEnd): Promise<SendReport | undefined> {
    const opened = this.#opened;
    if (opened === undefined) return this.#refused;
    opened.approval[Symbol.dispose]();
    return this.#endOpening(opened, end);
  }

  async #endOpening(opened: Opened, end: SendEnd): Promise<SendReport> {
    const { prepared, trail, driver } = opened;
    await driver?.abort();
    if (this.#isLeft(opened)) return deferredSend(prepared);
    return endSend(this.#options.parts, trail, prepared, end);
  }

  /** Returns whether it stays open in the journal, with what it shows, for the time when its message is claimed again (durability §6.13). */
  #isLeft({ note }: Opened): boolean {
    return note.isThere && this.#options.parts.suspension?.isSuspended === true;
  }

  /** Shows the newest part, one after the other. Never rejects. */
  async #showAll(): Promise<void> {
    const { parts, after, message, signal } = this.#options;
    await after?.catch(() => undefined);
    this.#place ??= parts.streams.begin(message);
    if (this.#place === undefined) return; // another reply grows there
    try {
      for (let part = this.#next(); part !== undefined; part = this.#next()) {
        if (signal.aborted || this.#refused !== undefined || !isPreviewOk(parts, message)) return;
        if (this.#opened === undefined) await this.#open(part);
        if (this.#isEnding) return; // what it is by now is shown as its final
        await this.#opened?.driver?.show(this.#next() ?? part);
      }
    } catch (error) {
      parts.logger.error('a stream could not be opened', { error }); // so it goes out whole, or says so, too
    }
  }

  #next(): StreamPart | undefined {
    const part = this.#newest;
    this.#newest = undefined;
    return part;
  }

  async #open(part: StreamPart): Promise<void> {
    const { parts, message, signal } = this.#options;
    const trail = this.#options.trail.fork();
    const content = part.phase === 'thinking' ? part.thinking : part.content;
    const opening = { ...message, content, kind: streamKind(message.kind, 'stream-opening') };
    const prepared = await prepareSend(parts, trail, opening, { streaming: true, signal });
    const unpassed = endOfUnpassed(prepared);
    if (unpassed !== undefined) {
      const report = await endSend(parts, trail, prepared, unpassed);
      if (prepared.cancel?.question === undefined) this.#refused = report;
      else this.#isEnding = true; // nothing of it is shown: a human is asked about the whole (judgement §4.11)
      return;
    }
    try {
      const { outcome } = prepared;
      const keep = noteShownOf(parts, outcome);
      const note = { isThere: false }; // without it nobody else knows of what is shown
      const approval = new StreamApproval(approveSend(outcome, parts.kernel), {
        noteShown: async (shown) => {
          await keep(shown);
          note.isThere = true;
        },
        mayTakeBack: async () =>
          !note.isThere || parts.outbox.mayTakeBack(parts, outcome.event.eventId),
      });
      const { channel: id, accountId } = approval.opening.message;
      const channel = parts.accounts.find(id, accountId)?.channel;
      const driver = channel && (await this.#drive(trail, approval, channel));
      this.#opened = { prepared, trail, approval, driver, channel, note };
    } catch (error) {
      const end = failedSend('threw', oneLine(error));
      this.#refused = await endSend(parts, trail, prepared, end);
    }
  }

  async #drive(
    trail: Trail,
    approval: StreamApproval,
    channel: ChannelPlugin,
  ): Promise<SenderDriver | undefined> {
    const { parts, signal } = this.#options;
    if (channel.capabilities.canStreamResponse !== true) return undefined;
    if (!(await reportSending(trail, approval.opening, approval.permits.opening, signal)))
      return undefined;
    try {
      const sender = channel.createStreamSender?.(approval.permits);
      const { clock, logger, sendTimeoutMs: timeoutMs } = parts;
      return sender && new SenderDriver(sender, { clock, logger, timeoutMs, signal });
    } catch (error) {
      parts.logger.error(`channel "${channel.id}" made no stream sender`, { error });
      return undefined;
    }
  }
}

/** An answer's opening and final have kinds of their own; what else streams keeps its kind. */
/** The kind under which a stream opens or ends: that of its message, but for an answer. */
function streamKind(
  kind: OutgoingMessage['kind'],
  ofAnswer: 'stream-opening' | 'stream-final',
): OutgoingMessage['kind'] {
  return kind === 'reply' || kind === 'block' ? ofAnswer : kind;
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
