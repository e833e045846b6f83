import type { Logger, TimerHandle } from 'sluice-kernel';
import type {
  ApprovedMessage,
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
  { surface, clock, log, signal }: StreamParts<Part>,
  permits: StreamPermits,
): StreamSender {
  /** The message that shows the stream, once its opening was taken. */
  let stage: ReturnType<typeof enter> | undefined;
  let current: ShownMessage<Part> | undefined;
  let shownText = '';
  /** Nothing more can be shown before the final. */
  let isDark = false;
  let isDone = false;
  /** Makes what is to be shown next. Only what is shown is made. */
  let next: (() => RichText) | undefined;
  const growing = new GrowingMarkdown();
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
    if (JSON.stringify(wanted) === shownText) {
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
    const { port, opening } = stage;
    const intervalMs = surface.intervalMs(opening);
    notBeforeMs = clock.monotonicMs() + intervalMs;
    const part = surface.growing(wanted);
    const answer =
      current === undefined ? await begin(port, part) : await editMessage(current, part);
    if (answer.status === 'refused' && answer.cause === 'busy') {
      backoffMs = Math.min(longestBackoffMs, backoffMs * 2);
      const waitMs = Math.max(backoffMs, answer.retryAfterMs ?? 0);
      notBeforeMs = clock.monotonicMs() + waitMs + intervalMs;
      return;
    }
    if (answer.status === 'unreached') return; // tried again with the next interval
    shownText = JSON.stringify(wanted);
    if (answer.status === 'done' || isUnchanged(answer)) {
      backoffMs = firstBackoffMs;
      return;
    }
    log.debug('a streamed reply was not updated', { detail: answer.reason });
    // no second one may follow a first message that nobody knows the end of; what is refused will be again
    isDark = answer.status === 'refused' || current === undefined;
  }

  /** Posts the message that grows. */
  async function begin(port: ChatPort<Part>, part: Part): Promise<CallAnswer<unknown>> {
    const first = { timeoutMs: openingTimeoutMs, isPlain: false, isFirst: true, isLast: false };
    const answer = await port.post(part, { ...first, key: permits.opening.idempotencyKey });
    if (answer.status !== 'done') return answer;
    const { messageId } = answer.result;
    const { mayTakeBack } = permits;
    current = { port, messageId, clock, log, signal, mayTakeBack };
    // the stream goes on without the note: a final is not sent where the journal fails
    await note(current).catch((error: unknown) =>
      log.debug('what a streamed reply shows was not noted', { error }),
    );
    return answer;
  }

  /** Takes the opening: it says where to show. */
  function enter(): { readonly port: ChatPort<Part>; readonly opening: ApprovedMessage } {
    const opening = permits.opening.take();
    const port = surface.at(opening);
    if ('problem' in port) throw new Error(port.problem);
    return { port, opening };
  }

  /** Notes what is shown: after a crash it is found by it. */
  async function note(
    shown: ShownMessage<Part> | undefined,
    more: Pick<PreviewNote, 'isSending'> = {},
  ) {
    if (shown === undefined) return;
    const { messageId, port } = shown;
    const { chatId, place } = port;
    const note: PreviewNote = { chatId, messageId, place, ...more };
    await permits.noteShown(note);
  }

  /** Takes back what is shown. */
  async function remove(): Promise<void> {
    const shown = current;
    current = undefined;
    if (shown !== undefined) await removeMessage(shown);
  }

  return {
    /** Shows reasoning once it has lasted; it never waits for the provider. */
    async onThinkingDelta({ thinking }): Promise<void> {
      const nowMs = clock.monotonicMs();
      thinkingSinceMs ??= nowMs;
      if (nowMs - thinkingSinceMs < shortestThinkingMs || thinking.trim() === '') return;
      show(() => growingThinking(thinking));
    },
    /** Shows the text so far; it never waits for the provider. */
    async onContentDelta({ content }): Promise<void> {
      if (!/\S/.test(content)) return;
      show(() => {
        let isCut = false;
        const rich = surface.textOf({ content }, (markdown) => {
          const read = growing.read(markdown);
          isCut = read.isCut;
          return read.rich;
        });
        return growingContent(rich, isCut);
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
      const sent = await completeMessage({ surface, clock, signal }, message, {
        shown,
        key: permit.idempotencyKey,
        text: finalText(surface.textOf(message), delta),
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
  whole: RichText,
  { thinking = '', thinkingDurationMs }: StreamDelta & { phase: 'final' },
): RichText {
  const content = trimmed(whole);
  const hasLasted = (thinkingDurationMs ?? shortestThinkingMs) >= shortestThinkingMs;
  if (thinking.trim() === '' || content.text === '' || !hasLasted) return content;
  return joined(endedThinking(thinking, thinkingDurationMs), content);
}
