import type { Trail } from '@sluice/agent';
import type { SendReport } from '@sluice/journal';
import { oneLine, type StopSignal } from 'sluice-kernel/internal';
import { deliver, deliverPrepared } from '../egress/delivery.js';
import {
  deferredSend,
  endOfShown,
  endOfUnpassed,
  endSend,
  failedSend,
  type SendEnd,
  suspendedReport,
  suspendedSend,
} from '../egress/end-send.js';
import { type OutgoingMessage, type PreparedSend, prepareSend } from '../egress/prepare-send.js';
import type { Reply } from '../egress/reply.js';
import type { SendParts } from '../parts/parts.js';
import { isPreviewOk } from './may-stream.js';
import { Preview, type StreamPart } from './preview.js';

/** The options of a streamed reply. */
interface StreamedReplyOptions {
  readonly parts: SendParts;
  /** The trail of its dispatches: forked for each of them. */
  readonly trail: Trail;
  /** The reply, but for its text. Its kind is that of a plain send: `block`, `reply`, `reasoning`. */
  readonly message: Omit<OutgoingMessage, 'content'>;
  readonly signal: StopSignal;
  /** The promise of all that has to be out before any of this is shown. */
  readonly after?: Promise<unknown>;
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
  readonly #startedAtMs: number;
  /** Its conversation, as long as it has it. */
  #place: Disposable | undefined;
  #newest: StreamPart | undefined;
  #showing: Promise<void> | undefined;
  #isEnding = false;
  /** Absent while it is hidden. */
  #preview: Preview | undefined;
  /** How its opening ended, if it was not let pass: nothing of the reply goes out. */
  #refused: SendReport | undefined;

  constructor(options: StreamedReplyOptions) {
    this.#options = options;
    this.#startedAtMs = options.parts.clock.now();
  }

  /**
   * Shows what the reply is now: all of it, not what was added. Returns at once, and never throws.
   *
   * @param elapsedMs how long a thought has lasted; by default, since the reply began.
   */
  show(text: string, elapsedMs?: number): void {
    if (this.#isEnding) return;
    const { parts, message } = this.#options;
    const thinkingElapsedMs = elapsedMs ?? Math.max(0, parts.clock.now() - this.#startedAtMs);
    this.#newest =
      message.kind === 'reasoning'
        ? { phase: 'thinking', thinking: text, thinkingElapsedMs }
        : { phase: 'content', content: text };
    this.#showing ??= this.#showAll().finally(() => {
      this.#showing = undefined;
    });
  }

  /**
   * Sends the reply as it is in the end.
   *
   * @throws what a dispatch of a plain send throws: a closed kernel.
   */
  async finish(reply: Reply): Promise<SendReport> {
    await this.#end();
    using _place = this.#place;
    if (this.#refused !== undefined) return this.#refused;
    const { parts, signal } = this.#options;
    const message = { ...this.#options.message, ...reply };
    if (parts.suspension?.isSuspended)
      return (await this.#endWithout(suspendedSend())) ?? suspendedReport(message);
    const trail = this.#options.trail.fork();
    const preview = this.#preview;
    if (preview === undefined) return await deliver(parts, trail, message, signal);
    using _permits = preview;
    const { correlationId, eventId: openedBy } = preview.prepared.outcome.event;
    trail.carry({ correlationId });
    const final = { ...message, kind: streamKind(message.kind, 'stream-final'), openedBy };
    let prepared: PreparedSend;
    try {
      const how = { streaming: false, signal, goesOut: true, persistedAs: message.kind };
      prepared = await prepareSend(parts, trail, final, how);
    } catch (error) {
      return await this.#endOpening(preview, failedSend('threw', oneLine(error)));
    }
    return await deliverPrepared(
      ...([parts, trail, prepared, signal] as const),
      (account, send) => preview.finish(trail, account, send),
      () => preview.takeBack(),
    );
  }

  /** Ends it without a final: its agent failed. @returns how it ended, where it had begun. */
  async fail(error: string): Promise<SendReport | undefined> {
    await this.#end();
    using _place = this.#place;
    await this.#preview?.fail(error);
    return await this.#endWithout(failedSend('agent-failed', error));
  }

  /** Takes back what was shown: somebody stopped it, or there is no such reply. @returns as `fail`. */
  async withdraw(why: 'aborted' | 'withdrawn'): Promise<SendReport | undefined> {
    await this.#end();
    using _place = this.#place;
    if (why === 'aborted')
      return await this.#endWithout(failedSend('aborted', 'it was stopped before it was whole'));
    const cancel = { code: 'withdrawn', text: 'the agent took it back' };
    return await this.#endWithout({ status: 'cancelled', cancel, attempts: 0 });
  }

  #end(): Promise<void> | undefined {
    this.#isEnding = true;
    this.#newest = undefined;
    return this.#showing;
  }

  async #endWithout(end: SendEnd): Promise<SendReport | undefined> {
    const preview = this.#preview;
    return preview === undefined ? this.#refused : await this.#endOpening(preview, end);
  }

  async #endOpening(preview: Preview, end: SendEnd): Promise<SendReport> {
    const { prepared, trail } = preview;
    const shown = await preview.takeBack();
    preview[Symbol.dispose]();
    if (shown === 'left') return deferredSend(prepared);
    return endSend(this.#options.parts, trail, prepared, endOfShown(end, shown));
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
        if (this.#preview === undefined) await this.#open(part);
        if (this.#isEnding) return; // what it is by now is shown as its final
        await this.#preview?.show(this.#next() ?? part);
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
      const preview = new Preview(parts, trail, prepared, signal);
      await preview.begin();
      this.#preview = preview;
    } catch (error) {
      const end = failedSend('threw', oneLine(error));
      this.#refused = await endSend(parts, trail, prepared, end);
    }
  }
}

/** The kind under which a stream opens or ends: that of its message, but for an answer. */
function streamKind(
  kind: OutgoingMessage['kind'],
  ofAnswer: 'stream-opening' | 'stream-final',
): OutgoingMessage['kind'] {
  return kind === 'reply' || kind === 'block' ? ofAnswer : kind;
}
