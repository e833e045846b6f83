import type { Trail } from '@sluice/agent';
import type { SendApproval, StreamApproval } from '@sluice/sdk/channel';
import type { StreamDelta, StreamSender } from '@sluice/sdk/stream';
import type { Clock, Logger } from 'sluice-kernel';
import { type AttemptResult, answerOf, reportSending } from '../egress/send-attempt.js';
import { type CallEnd, callWithin } from '../parts/attempt.js';
import type { SendParts } from '../parts/parts.js';
import type { RunningAccount } from '../provided/accounts.js';

/** A part of a reply that grows. Each replaces the one before. */
export type StreamPart = StreamDelta & { phase: 'thinking' | 'content' };

/** The parts that a driver needs. */
export interface SenderDriverOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Milliseconds that one call may take. */
  readonly timeoutMs: number;
  /** Stops waiting for parts and for the final. */
  readonly signal: AbortSignal;
}

/** Milliseconds that taking back what was shown may take. The host may be waiting to stop. */
const abortTimeoutMs = 5_000;

/**
 * Calls one stream sender: one call at a time, each with an end, and none that throws into its caller. A sender that
 * fails is asked to take back what it has shown, and is then left alone.
 */
export class SenderDriver {
  readonly #sender: StreamSender;
  readonly #options: SenderDriverOptions;
  #isOver = false;

  constructor(sender: StreamSender, options: SenderDriverOptions) {
    this.#sender = sender;
    this.#options = options;
  }

  /** It has failed, ended or been aborted: it shows nothing more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Shows a part. Resolves when the sender is ready for another. */
  async show(part: StreamPart): Promise<void> {
    if (this.#isOver) return;
    const { phase } = part;
    const end = await this.#call(() =>
      phase === 'thinking' ? this.#sender.onThinkingDelta(part) : this.#sender.onContentDelta(part),
    );
    if (end.status === 'returned') return;
    this.#report(phase, end);
    await this.abort();
  }

  /** Shows the final. What the sender has shown stays where this is not followed by `abort`. */
  async finish(delta: StreamDelta & { phase: 'final' }): Promise<CallEnd<unknown>> {
    const end = await this.#call(() => this.#sender.onFinal(delta));
    if (end.status !== 'returned') this.#report('final', end);
    return end;
  }

  /** Tells it that the reply failed: it takes back what it has shown, or says so in its own way. */
  fail(delta: StreamDelta & { phase: 'error' }): Promise<void> {
    return this.#leave('error', () => this.#sender.onError(delta));
  }

  /** Has what was shown taken back. The second time there is nothing left to take. */
  abort(): Promise<void> {
    return this.#leave('abort', () => this.#sender.abort());
  }

  /** It has shown its final, and keeps it. */
  close(): void {
    this.#isOver = true;
  }

  /** The last call of a sender, unless it is over. */
  async #leave(phase: string, call: () => Promise<unknown>): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const end = await callWithin(call, this.#options.clock, abortTimeoutMs);
    if (end.status !== 'returned') this.#report(phase, end);
  }

  #call(call: () => Promise<unknown>): Promise<CallEnd<unknown>> {
    const { clock, timeoutMs, signal } = this.#options;
    return callWithin(call, clock, timeoutMs, signal);
  }

  #report(phase: string, end: CallEnd<unknown>): void {
    if (end.status === 'aborted') return;
    const why = end.status === 'threw' ? end.reason : 'it did not answer in time';
    this.#options.logger.error(`a stream sender failed at "${phase}"`, {
      code: end.status,
      detail: why,
    });
  }
}

/** The parts that show the final of a stream. */
interface FinalSend {
  readonly account: RunningAccount;
  /** The final that `egress.preparing` has passed. */
  readonly final: SendApproval;
  readonly driver: SenderDriver;
  readonly approval: StreamApproval;
  readonly signal: AbortSignal;
}

/**
 * Has a stream's sender show its final, under a permit of its own (spec §14.9). Whatever comes of it, the final is
 * never shown twice: it is said not to be shown only where its permit was not taken, and can be taken no more. A
 * preview of what was not delivered is taken back.
 */
export async function sendFinal(
  parts: SendParts,
  trail: Trail,
  { account, final, driver, approval, signal }: FinalSend,
): Promise<AttemptResult> {
  const { attachments, interactive } = final.message;
  const isPlain = attachments.length === 0 && interactive === undefined;
  if (signal.aborted || !approval.fits(final) || !isPlain) {
    await driver.abort();
    return signal.aborted ? { status: 'aborted' } : { status: 'not-shown' };
  }
  const permit = approval.admitFinal(final);
  if (!(await reportSending(trail, final, permit, signal))) {
    await driver.abort();
    return { status: 'aborted' };
  }
  const end = await driver.finish({ phase: 'final', content: final.message.content });
  const wasTaken = permit.used;
  if (!wasTaken) {
    permit.take(); // so that a sender that is late cannot show it beside the send that follows
    await driver.abort();
    if (end.status === 'aborted') return end;
    if (end.status !== 'returned') return { status: 'not-shown' };
    const reason = `the stream sender of channel "${account.channel.id}" took no message from the permit of its final`;
    return { status: 'threw', reason };
  }
  const { reported } = approval;
  const result = reported === undefined ? impliedBy(end, parts) : answerOf(reported);
  if (result.status === 'sent') driver.close();
  else await driver.abort(); // it knows what of it is a preview still
  return result;
}

/** Says what the end of `onFinal` means by itself, if the permit was taken. */
function impliedBy(end: CallEnd<unknown>, { sendTimeoutMs }: SendParts): AttemptResult {
  if (end.status === 'returned') return { status: 'sent', receipt: {} };
  if (end.status !== 'late') return end;
  const reason = `the stream sender did not answer within ${sendTimeoutMs} ms`;
  return { status: 'ambiguous', reason };
}
