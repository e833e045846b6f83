import type { Logger, TimerHandle } from 'sluice';
import type { ApprovedMessage, StreamDelta, StreamPermits, StreamSender } from 'sluice/channel';
import type { BotApi } from '../api/bot-api.js';
import type { TelegramConfig } from '../config.js';
import { richTextOf } from '../egress/parts.js';
import { fieldsOf, type SendParts } from '../egress/send.js';
import { targetOf } from '../egress/target.js';
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
export interface StreamParts extends Omit<SendParts, 'api'> {
  /** The account that a message goes by. @throws where there is none. */
  readonly apiOf: (message: ApprovedMessage) => BotApi;
  readonly log: Logger;
}

/**
 * Shows one reply while it grows: one message, edited as often as Telegram allows, which becomes the first part of the
 * answer or goes. One call is under way at a time, and ends wait for it: nothing is shown twice, and nothing stays.
 */
export function telegramStreamSender(
  { apiOf, clock, log, config, signal }: StreamParts,
  permits: StreamPermits,
): StreamSender {
  /** The message that shows the stream, once its opening was taken. */
  let stage: ReturnType<typeof enter> | undefined;
  let current: ShownMessage | undefined;
  let shownHtml = '';
  /** Nothing more can be shown before the final. */
  let isDark = false;
  let isDone = false;
  /** Makes what is to be shown next. Only what is shown is made. */
  let next: (() => RichText) | undefined;
  const growing = new GrowingSource();
  let notBeforeMs = 0;
  let backoffMs = firstBackoffMs;
  let timer: TimerHandle | undefined;
  let call: Promise<void> | undefined;
  let thinkingSinceMs: number | undefined;

  /** @returns whether it had not ended before. What is under way is waited for. */
  async function end(): Promise<boolean> {
    if (isDone) return false;
    isDone = true;
    if (timer !== undefined) clock.clearTimeout(timer);
    await call;
    return true;
  }

  function show(wanted: () => RichText): void {
    next = wanted;
    pump();
  }

  /** Makes the next call now, or sets a timer for it. It takes what is wanted then. */
  function pump(): void {
    const isWaiting = timer !== undefined || call !== undefined;
    if (isDone || isDark || isWaiting) return;
    if (next === undefined) return;
    const waitMs = notBeforeMs - clock.monotonicMs();
    if (waitMs > 0) {
      timer = clock.setTimeout(() => {
        timer = undefined;
        pump();
      }, waitMs);
      return;
    }
    const wanted = next();
    if (toHtml(wanted) === shownHtml) {
      next = undefined;
      return;
    }
    call = update(wanted)
      .catch((error: unknown) => {
        isDark = true; // its permit was used up: the host has gone on without it
        log.warn('a streamed reply is not shown', { error });
      })
      .then(() => {
        call = undefined;
        pump();
      });
  }

  async function update(wanted: RichText): Promise<void> {
    stage ??= enter();
    const { intervalMs, fields } = stage;
    notBeforeMs = clock.monotonicMs() + intervalMs;
    const answer =
      current === undefined
        ? await beginText(stage, fields, wanted)
        : await editText(current, wanted);
    if (answer.status === 'refused' && answer.code === 429) {
      backoffMs = Math.min(longestBackoffMs, backoffMs * 2);
      const waitMs = Math.max(backoffMs, answer.retryAfterMs ?? 0);
      notBeforeMs = clock.monotonicMs() + waitMs + intervalMs;
      return;
    }
    if (answer.status === 'unreached') return; // tried again with the next interval
    shownHtml = toHtml(wanted);
    if (answer.status === 'done' || isUnchanged(answer)) {
      backoffMs = firstBackoffMs;
      if (answer.status === 'done' && answer.result !== true && 'messageId' in answer.result) {
        const { messageId } = answer.result;
        current = { ...stage, messageId, clock, log, signal };
        // the stream goes on without the note: a final is not sent where the journal fails
        await note(current).catch((error: unknown) =>
          log.debug('what a streamed reply shows was not noted', { error }),
        );
      }
      return;
    }
    log.debug('a streamed reply was not updated', { detail: answer.reason });
    // no second one may follow a first message that nobody knows the end of; what is refused will be again
    isDark = answer.status === 'refused' || current === undefined;
  }

  /** Takes the opening: it says where to show. */
  function enter() {
    const opening = permits.opening.take();
    const target = targetOf(opening);
    if (target === undefined) throw new Error(`"${opening.to}" is no address of Telegram`);
    const isGroup = opening.isGroup ?? !(Number(target.chat_id) > 0);
    return {
      api: apiOf(opening),
      target,
      place: placeOfMessage(opening),
      fields: fieldsOf(opening),
      intervalMs: isGroup ? intervalsMs.group : intervalsMs.private,
    };
  }

  /** Notes what is shown: after a crash it is found by it. */
  async function note(shown: ShownMessage | undefined, more: Pick<PreviewNote, 'isSending'> = {}) {
    if (shown === undefined || stage === undefined) return;
    const { messageId, target } = shown;
    const { place } = stage;
    const note: PreviewNote = { chatId: target.chat_id, messageId, place, ...more };
    await permits.noteShown(note);
  }

  /** Takes back what is shown. */
  async function remove(): Promise<void> {
    const shown = current;
    current = undefined;
    if (shown !== undefined) await removeMessage(shown);
  }

  return {
    /** Shows reasoning once it has lasted; it never waits for Telegram. */
    async onThinkingDelta({ thinking }): Promise<void> {
      const nowMs = clock.monotonicMs();
      thinkingSinceMs ??= nowMs;
      if (nowMs - thinkingSinceMs < shortestThinkingMs || thinking.trim() === '') return;
      show(() => growingThinking(thinking));
    },
    /** Shows the text so far; it never waits for Telegram. */
    async onContentDelta({ content }): Promise<void> {
      if (!/\S/.test(content)) return;
      show(() => {
        const { source, isCut } = growing.tail(content);
        return growingContent(richTextOf({ content: source }, config.format), isCut);
      });
    },
    /** Shows the message of the final's permit, and says how that went. */
    async onFinal(delta): Promise<void> {
      if (!(await end())) return;
      const permit = permits.final();
      if (permit === undefined) {
        await remove();
        return;
      }
      const message = permit.take();
      const shown = current;
      // the answer comes in the place of what was shown; what does not fit there is sent
      const sent = await completeMessage({ api: apiOf(message), clock, config, signal }, message, {
        shown,
        text: finalText(message, delta, config.format),
        noteSending: () => note(shown, { isSending: true }),
      });
      permits.report(sent);
    },
    async onError({ error }): Promise<void> {
      if (!(await end())) return;
      log.warn('a streamed reply ended with an error', { detail: error });
      await remove();
    },
    async abort(): Promise<void> {
      if (await end()) await remove();
    },
  };
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
