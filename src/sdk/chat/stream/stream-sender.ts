import type { Logger, TimerHandle } from 'sluice-kernel';
import { type GrowingSurface, growingSender } from '../../channel/growing-sender.js';
import type {
  ApprovedMessage,
  SendPermit,
  SendResult,
  StreamDelta,
  StreamPermits,
  StreamSender,
} from '../../channel/index.js';
import type { CallAnswer, ChatPort } from '../send/port.js';
import type { SendParts } from '../send/surface.js';
import { GrowingMarkdown } from '../text/growing-markdown.js';
import { joined, type RichText, trimmed } from '../text/rich-text.js';
import { completeMessage } from './complete-message.js';
import type { PreviewNote } from './preview-note.js';
import { editMessage, isUnchanged, removeMessage, type ShownMessage } from './shown-message.js';
import {
  endedThinking,
  growingContent,
  growingThinking,
  shortestThinkingMs,
} from './stream-view.js';

const firstBackoffMs = 1_000;
const longestBackoffMs = 10_000;
/** Milliseconds of the call that opens a preview. */
const openingTimeoutMs = 30_000;

/** The parts that a stream works with. */
export interface StreamParts<Part> extends SendParts<Part> {
  readonly log: Logger;
}

/**
 * Shows one reply while it grows: one message, edited as often as its provider allows, which becomes the first part of the
 * answer or goes. One call is under way at a time, and ends wait for it: nothing is shown twice, and nothing stays.
 *
 * @example
 * createStreamSender: (permits) =>
 *   chatStreamSender({ surface, clock, log, signal }, checkedPermits(permits, inbox)),
 */
export function chatStreamSender<Part>(
  parts: StreamParts<Part>,
  permits: StreamPermits,
): StreamSender {
  return growingSender(permits, new EditedMessage(parts, permits));
}

/** The message that shows one reply. */
class EditedMessage<Part> implements GrowingSurface {
  readonly #parts: StreamParts<Part>;
  readonly #permits: StreamPermits;
  readonly #signal: AbortSignal;
  readonly #growing = new GrowingMarkdown();
  /** The place of the message, once its opening was taken. */
  #stage: { readonly port: ChatPort<Part>; readonly opening: ApprovedMessage } | undefined;
  #shown: ShownMessage<Part> | undefined;
  #shownText = '';
  /** Nothing more can be shown before the final. */
  #isDark = false;
  /** Makes what is to be shown next. Only what is shown is made. */
  #next: (() => RichText) | undefined;
  #notBeforeMs = 0;
  #backoffMs = firstBackoffMs;
  #timer: TimerHandle | undefined;
  #call: Promise<void> | undefined;
  #thinkingSinceMs: number | undefined;

  constructor(parts: StreamParts<Part>, permits: StreamPermits) {
    this.#parts = parts;
    this.#signal = parts.signal;
    this.#permits = permits;
  }

  /** Takes note of a part; it never waits for the provider. Reasoning is shown once it has lasted. */
  async show(part: Parameters<GrowingSurface['show']>[0]): Promise<void> {
    const text = part.phase === 'thinking' ? part.thinking : part.content;
    if (part.phase === 'thinking') {
      const nowMs = this.#parts.clock.monotonicMs();
      this.#thinkingSinceMs ??= nowMs;
      if (nowMs - this.#thinkingSinceMs < shortestThinkingMs) return;
    }
    if (!/\S/.test(text)) return;
    this.#next =
      part.phase === 'thinking' ? () => growingThinking(text) : () => this.#contentOf(text);
    this.#pump();
  }

  /** Shows the final in the place of what was shown; what does not fit there is sent. */
  async finish(permit: SendPermit, delta: StreamDelta & { phase: 'final' }): Promise<SendResult> {
    await this.#settle();
    const { surface, clock } = this.#parts;
    const message = permit.take();
    const shown = this.#shown;
    return completeMessage({ surface, clock, signal: this.#signal }, message, {
      shown,
      key: permit.idempotencyKey,
      text: finalText(surface.textOf(message), delta),
      noteSending: async () => shown && this.#note(shown, { isSending: true }),
    });
  }

  async remove(error?: string): Promise<void> {
    await this.#settle();
    if (error !== undefined)
      this.#parts.log.warn('a streamed reply ended with an error', { detail: error });
    if (this.#shown !== undefined) await removeMessage(this.#shown);
  }

  /** Makes no more calls, and waits for the one that is under way. */
  async #settle(): Promise<void> {
    this.#next = undefined;
    if (this.#timer !== undefined) this.#parts.clock.clearTimeout(this.#timer);
    await this.#call;
  }

  #contentOf(content: string): RichText {
    let isCut = false;
    const rich = this.#parts.surface.textOf({ content }, (markdown) => {
      const read = this.#growing.read(markdown);
      isCut = read.isCut;
      return read.rich;
    });
    return growingContent(rich, isCut);
  }

  /** Makes the next call now, or sets a timer for it. It takes what is wanted then. */
  #pump(): void {
    const { clock, log } = this.#parts;
    const isWaiting = this.#timer !== undefined || this.#call !== undefined;
    if (this.#isDark || isWaiting || this.#next === undefined) return;
    const waitMs = this.#notBeforeMs - clock.monotonicMs();
    if (waitMs > 0) {
      this.#timer = clock.setTimeout(() => {
        this.#timer = undefined;
        this.#pump();
      }, waitMs);
      return;
    }
    const wanted = this.#next();
    if (JSON.stringify(wanted) === this.#shownText) {
      this.#next = undefined;
      return;
    }
    this.#call = this.#update(wanted)
      .catch((error: unknown) => {
        this.#isDark = true; // its permit was used up: the host has gone on without it
        log.warn('a streamed reply is not shown', { error });
      })
      .then(() => {
        this.#call = undefined;
        this.#pump();
      });
  }

  async #update(wanted: RichText): Promise<void> {
    const { surface, clock, log } = this.#parts;
    this.#stage ??= this.#enter();
    const { port, opening } = this.#stage;
    const intervalMs = surface.intervalMs(opening);
    this.#notBeforeMs = clock.monotonicMs() + intervalMs;
    const part = surface.growing(wanted);
    const shown = this.#shown;
    const answer = await (shown === undefined ? this.#post(port, part) : editMessage(shown, part));
    if (answer.status === 'refused' && answer.cause === 'busy') {
      this.#backoffMs = Math.min(longestBackoffMs, this.#backoffMs * 2);
      const waitMs = Math.max(this.#backoffMs, answer.retryAfterMs ?? 0);
      this.#notBeforeMs = clock.monotonicMs() + waitMs + intervalMs;
      return;
    }
    if (answer.status === 'unreached') return; // tried again with the next interval
    this.#shownText = JSON.stringify(wanted);
    if (answer.status === 'done' || isUnchanged(answer)) {
      this.#backoffMs = firstBackoffMs;
      return;
    }
    log.debug('a streamed reply was not updated', { detail: answer.reason });
    // no second one may follow a first message that nobody knows the end of; what is refused will be again
    this.#isDark = answer.status === 'refused' || this.#shown === undefined;
  }

  /** Takes the opening: it says where to show. */
  #enter() {
    const opening = this.#permits.opening.take();
    const port = this.#parts.surface.at(opening);
    if ('problem' in port) throw new Error(port.problem);
    return { port, opening };
  }

  /** Posts the message that grows. */
  async #post(port: ChatPort<Part>, part: Part): Promise<CallAnswer<unknown>> {
    const { clock, log } = this.#parts;
    const { opening, mayTakeBack } = this.#permits;
    const first = { timeoutMs: openingTimeoutMs, isPlain: false, isFirst: true, isLast: false };
    const answer = await port.post(part, { ...first, key: opening.idempotencyKey });
    if (answer.status !== 'done') return answer;
    const { messageId } = answer.result;
    this.#shown = { port, messageId, clock, log, signal: this.#signal, mayTakeBack };
    // the stream goes on without the note: a final is not sent where the journal fails
    await this.#note(this.#shown).catch((error: unknown) =>
      log.debug('what a streamed reply shows was not noted', { error }),
    );
    return answer;
  }

  /** Notes what is shown: after a crash it is found by it. */
  async #note(
    { messageId, port: { chatId, place } }: ShownMessage<Part>,
    more: Pick<PreviewNote, 'isSending'> = {},
  ): Promise<void> {
    const note: PreviewNote = { chatId, messageId, place, ...more };
    await this.#permits.noteShown(note);
  }
}

/** The answer, under the reasoning that led to it where that has lasted. Reasoning alone is nothing to send. */
function finalText(
  whole: RichText,
  { thinking = '', thinkingDurationMs }: StreamDelta & { phase: 'final' },
): RichText {
  const content = trimmed(whole);
  const hasLasted = (thinkingDurationMs ?? shortestThinkingMs) >= shortestThinkingMs;
  if (thinking.trim() === '' || content.text === '' || !hasLasted) return content;
  return joined(endedThinking(thinking, thinkingDurationMs), content);
}
