import type { Clock, Logger, TimerHandle } from 'sluice';
import type {
  ApprovedMessage,
  SendResult,
  StreamDelta,
  StreamPermits,
  StreamSender,
} from 'sluice/channel';
import type { BotApi } from '../api/bot-api.js';
import type { TelegramConfig } from '../config.js';
import { richTextOf } from '../egress/parts.js';
import { fieldsOf } from '../egress/send.js';
import { type Target, targetOf } from '../egress/target.js';
import { GrowingSource } from '../text/growing-source.js';
import { toHtml } from '../text/html.js';
import { joined, type RichText, trimmed } from '../text/rich-text.js';
import { completeMessage } from './complete-message.js';
import { type PreviewNote, placeOfMessage } from './preview-note.js';
import {
  beginText,
  editText,
  isUnchanged,
  removeMessage,
  type ShownMessage,
} from './shown-message.js';
import {
  endedThinking,
  growingContent,
  growingThinking,
  shortestThinkingMs,
} from './stream-view.js';

/** Milliseconds between two edits; Telegram allows fewer in groups. */
const intervalsMs = { private: 900, group: 3_000 };
const firstBackoffMs = 1_000;
const longestBackoffMs = 10_000;

/** The parts that a stream works with. */
export interface StreamParts {
  /** The account that a message goes by. @throws where there is none. */
  readonly apiOf: (message: ApprovedMessage) => BotApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly config: Pick<TelegramConfig, 'format' | 'mediaRoots'>;
  readonly signal: AbortSignal;
}

/** The message that shows a stream, once its opening was taken. */
interface Stage {
  readonly api: BotApi;
  readonly target: Target;
  readonly place: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly intervalMs: number;
}

/**
 * Shows one reply while it grows: one message, edited as often as Telegram allows, which becomes the first part of the
 * answer or goes. One call is under way at a time, and ends wait for it: nothing is shown twice, and nothing stays.
 */
export class TelegramStreamSender implements StreamSender {
  readonly #parts: StreamParts;
  readonly #permits: StreamPermits;
  #stage: Stage | undefined;
  #shown: ShownMessage | undefined;
  #shownHtml = '';
  /** Nothing more can be shown before the final. */
  #isDark = false;
  #isDone = false;
  /** Makes what is to be shown next. Only what is shown is made. */
  #wanted: (() => RichText) | undefined;
  readonly #growing = new GrowingSource();
  #notBeforeMs = 0;
  #backoffMs = firstBackoffMs;
  #timer: TimerHandle | undefined;
  #call: Promise<void> | undefined;
  #thinkingSinceMs: number | undefined;

  constructor(parts: StreamParts, permits: StreamPermits) {
    this.#parts = parts;
    this.#permits = permits;
  }

  /** Shows reasoning once it has lasted; it never waits for Telegram. */
  async onThinkingDelta({ thinking }: StreamDelta & { phase: 'thinking' }): Promise<void> {
    const nowMs = this.#parts.clock.monotonicMs();
    this.#thinkingSinceMs ??= nowMs;
    if (nowMs - this.#thinkingSinceMs < shortestThinkingMs || thinking.trim() === '') return;
    this.#show(() => growingThinking(thinking));
  }

  /** Shows the text so far; it never waits for Telegram. */
  async onContentDelta({ content }: StreamDelta & { phase: 'content' }): Promise<void> {
    if (!/\S/.test(content)) return;
    this.#show(() => {
      const { source, isCut } = this.#growing.tail(content);
      return growingContent(richTextOf({ content: source }, this.#parts.config.format), isCut);
    });
  }

  /** Shows the message of the final's permit, and says how that went. */
  async onFinal(delta: StreamDelta & { phase: 'final' }): Promise<void> {
    if (!(await this.#end())) return;
    const permit = this.#permits.final();
    if (permit === undefined) {
      await this.#remove();
      return;
    }
    this.#permits.report(await this.#final(permit.take(), delta));
  }

  async onError({ error }: StreamDelta & { phase: 'error' }): Promise<void> {
    if (!(await this.#end())) return;
    this.#parts.log.warn('a streamed reply ended with an error', { detail: error });
    await this.#remove();
  }

  async abort(): Promise<void> {
    if (await this.#end()) await this.#remove();
  }

  /** @returns whether it had not ended before. What is under way is waited for. */
  async #end(): Promise<boolean> {
    if (this.#isDone) return false;
    this.#isDone = true;
    if (this.#timer !== undefined) this.#parts.clock.clearTimeout(this.#timer);
    await this.#call;
    return true;
  }

  #show(wanted: () => RichText): void {
    this.#wanted = wanted;
    this.#pump();
  }

  /** Makes the next call now, or sets a timer for it. It takes what is wanted then. */
  #pump(): void {
    const isWaiting = this.#timer !== undefined || this.#call !== undefined;
    if (this.#isDone || this.#isDark || isWaiting) return;
    if (this.#wanted === undefined) return;
    const { clock, log } = this.#parts;
    const waitMs = this.#notBeforeMs - clock.monotonicMs();
    if (waitMs > 0) {
      this.#timer = clock.setTimeout(() => {
        this.#timer = undefined;
        this.#pump();
      }, waitMs);
      return;
    }
    const wanted = this.#wanted();
    if (toHtml(wanted) === this.#shownHtml) {
      this.#wanted = undefined;
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
    this.#stage ??= this.#enter();
    const { intervalMs, fields } = this.#stage;
    const { clock, log, signal } = this.#parts;
    this.#notBeforeMs = clock.monotonicMs() + intervalMs;
    const answer =
      this.#shown === undefined
        ? await beginText(this.#stage, fields, wanted)
        : await editText(this.#shown, wanted);
    if (answer.status === 'refused' && answer.code === 429) {
      this.#backoffMs = Math.min(longestBackoffMs, this.#backoffMs * 2);
      const waitMs = Math.max(this.#backoffMs, answer.retryAfterMs ?? 0);
      this.#notBeforeMs = clock.monotonicMs() + waitMs + intervalMs;
      return;
    }
    if (answer.status === 'unreached') return; // tried again with the next interval
    this.#shownHtml = toHtml(wanted);
    if (answer.status === 'done' || isUnchanged(answer)) {
      this.#backoffMs = firstBackoffMs;
      if (answer.status === 'done' && answer.result !== true && 'messageId' in answer.result) {
        const { messageId } = answer.result;
        this.#shown = { ...this.#stage, messageId, clock, log, signal };
        // the stream goes on without the note: a final is not sent where the journal fails
        await this.#note(this.#shown).catch((error: unknown) =>
          log.debug('what a streamed reply shows was not noted', { error }),
        );
      }
      return;
    }
    log.debug('a streamed reply was not updated', { detail: answer.reason });
    // no second one may follow a first message that nobody knows the end of; what is refused will be again
    this.#isDark = answer.status === 'refused' || this.#shown === undefined;
  }

  /** Takes the opening: it says where to show. */
  #enter(): Stage {
    const opening = this.#permits.opening.take();
    const target = targetOf(opening);
    if (target === undefined) throw new Error(`"${opening.to}" is no address of Telegram`);
    const isGroup = opening.isGroup ?? !(Number(target.chat_id) > 0);
    return {
      api: this.#parts.apiOf(opening),
      target,
      place: placeOfMessage(opening),
      fields: fieldsOf(opening),
      intervalMs: isGroup ? intervalsMs.group : intervalsMs.private,
    };
  }

  /** Puts the answer in the place of what was shown, and sends what does not fit there. */
  #final(message: ApprovedMessage, delta: StreamDelta & { phase: 'final' }): Promise<SendResult> {
    const { config, clock, signal, apiOf } = this.#parts;
    const shown = this.#shown;
    return completeMessage({ api: apiOf(message), clock, config, signal }, message, {
      shown,
      text: finalText(message, delta, config.format),
      noteSending: () => this.#note(shown, { isSending: true }),
    });
  }

  /** Notes what is shown: after a crash it is found by it. */
  async #note(shown: ShownMessage | undefined, more: Pick<PreviewNote, 'isSending'> = {}) {
    if (shown === undefined || this.#stage === undefined) return;
    const { messageId, target } = shown;
    const { place } = this.#stage;
    const note: PreviewNote = { chatId: target.chat_id, messageId, place, ...more };
    await this.#permits.noteShown(note);
  }

  /** Takes back what is shown. */
  async #remove(): Promise<void> {
    const shown = this.#shown;
    this.#shown = undefined;
    if (shown !== undefined) await removeMessage(shown);
  }
}

/** The answer, under the reasoning that led to it where that has lasted. Reasoning alone is nothing to send. */
function finalText(
  message: ApprovedMessage,
  { thinking = '', thinkingDurationMs }: StreamDelta & { phase: 'final' },
  format: TelegramConfig['format'],
): RichText {
  const content = trimmed(richTextOf(message, format));
  const hasLasted = (thinkingDurationMs ?? shortestThinkingMs) >= shortestThinkingMs;
  if (thinking.trim() === '' || content.text === '' || !hasLasted) return content;
  return joined(endedThinking(thinking, thinkingDurationMs), content);
}
