import type { Message } from 'grammy/types';
import type { Clock, Logger } from 'sluice';
import type { SendResult } from 'sluice/channel';
import type { ApiAnswer, BotApi } from '../api/bot-api.js';
import { type SentMessage, sentMessageOf } from '../api/sent-message.js';
import { textFields } from '../egress/parts.js';
import { isBadMarkup } from '../egress/send.js';
import type { Target } from '../egress/target.js';
import { pause } from '../intake/pause.js';
import type { RichText } from '../text/rich-text.js';

/** Attempts of calls that may be repeated. */
const editAttempts = 3;
const removalAttempts = 5;
/** Milliseconds of one of them: all together must end before a host gives them up. */
const callTimeoutMs = 8_000;
const firstWaitMs = 1_000;
const longestWaitMs = 10_000;

/** A message that is out, and can be edited or taken back. */
export interface ShownMessage {
  readonly api: BotApi;
  readonly target: Target;
  readonly messageId: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Gives up waiting between attempts. */
  readonly signal: AbortSignal;
}

/** Sends a text that is going to be edited. */
export async function beginText(
  { api, target }: Pick<ShownMessage, 'api' | 'target'>,
  fields: Readonly<Record<string, unknown>>,
  text: RichText,
): Promise<ApiAnswer<SentMessage>> {
  return sentMessageOf(await api.call('sendMessage', { ...target, ...fields, ...asText(text) }));
}

/**
 * Edits it once.
 *
 * @param isPlain leaves the markup out.
 * @param fields fields besides the text: a keyboard.
 */
export function editText(
  { api, target, messageId }: ShownMessage,
  text: RichText,
  isPlain = false,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<ApiAnswer<Message | true>> {
  const at = { chat_id: target.chat_id, message_id: messageId };
  const payload = { ...at, ...fields, ...asText(text, isPlain) };
  return api.call('editMessageText', payload, { timeoutMs: callTimeoutMs });
}

function asText(rich: RichText, isPlain = false) {
  const { text = '', parse_mode: mode } = {
    parse_mode: undefined,
    ...textFields('text', rich, isPlain),
  };
  return { text, ...(mode !== undefined && { parse_mode: 'HTML' as const }) };
}

/** Tells whether an edit changed nothing, since it was there already. */
export function isUnchanged(answer: ApiAnswer<unknown>): boolean {
  return answer.status === 'refused' && /not modified/i.test(answer.reason);
}

/**
 * Edits it until it shows a text. An edit may be repeated: it makes the same message the same text.
 *
 * @param fields fields besides the text: a keyboard.
 * @returns `placed`; `gone` where it was removed, by others or here, and nothing of it is shown; or why it shows
 *   something else.
 */
export async function placeText(
  shown: ShownMessage,
  text: RichText,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<'placed' | 'gone' | SendResult> {
  let isPlain = false;
  for (let attempt = 1; ; ) {
    const answer = await editText(shown, text, isPlain, fields);
    if (answer.status === 'done' || isUnchanged(answer)) return 'placed';
    const { reason } = answer;
    if (answer.status === 'refused' && answer.code !== 429) {
      if (isBadMarkup(answer) && !isPlain) {
        isPlain = true;
        continue;
      }
      // it cannot be edited, or is gone, or nobody may write there any more
      const isRemoved = await removeMessage(shown);
      if (answer.code === 403) return { status: 'rejected', reason };
      return isRemoved ? 'gone' : { status: 'ambiguous', reason };
    }
    const waitMs =
      (answer.status === 'refused' ? answer.retryAfterMs : undefined) ??
      firstWaitMs * 2 ** (attempt - 1);
    if (attempt++ >= editAttempts || waitMs > longestWaitMs || shown.signal.aborted) {
      return (await removeMessage(shown))
        ? { status: 'retry-after', retryAfterMs: waitMs, reason }
        : { status: 'ambiguous', reason };
    }
    await pause(shown.clock, waitMs, shown.signal);
  }
}

/**
 * Takes it back. A removal may be repeated. Where it cannot be made, that is told.
 *
 * @returns whether it is gone.
 */
export async function removeMessage(shown: ShownMessage): Promise<boolean> {
  const { api, target, messageId, clock, log, signal } = shown;
  const payload = { chat_id: target.chat_id, message_id: messageId };
  for (let attempt = 1; ; attempt++) {
    const answer = await api.call('deleteMessage', payload, { timeoutMs: callTimeoutMs });
    if (answer.status === 'done') return true;
    if (answer.status === 'refused' && /to delete not found/i.test(answer.reason)) return true;
    const isFinal = answer.status === 'refused' && answer.code !== 429;
    if (isFinal || attempt >= removalAttempts || signal.aborted) {
      log.warn('a part of a reply could not be taken back', { detail: answer.reason });
      return false;
    }
    const asked = answer.status === 'refused' ? (answer.retryAfterMs ?? 0) : 0;
    const waitMs = Math.max(firstWaitMs * 2 ** (attempt - 1), asked);
    await pause(clock, Math.min(longestWaitMs, waitMs), signal);
  }
}
