import type { Clock } from 'sluice';
import type { ApprovedMessage, SendResult } from 'sluice/channel';
import { conversationIdOf } from '../address.js';
import type { ApiAnswer, BotApi } from '../api/bot-api.js';
import { type SentMessage, sentMessageOf } from '../api/sent-message.js';
import type { TelegramConfig } from '../config.js';
import { pause } from '../intake/pause.js';
import { keyboardOf } from './keyboard.js';
import { type Part, partsOf, textFields } from './parts.js';
import { replyOf, type Target, targetOf } from './target.js';

/** Milliseconds that a message may take, all of its parts: less than a host waits for it. */
const deadlineMs = 55_000;
/** Milliseconds to wait where Telegram does not say how long; doubled with each attempt. */
const unsaidWaitMs = 1_000;
const longestUnsaidWaitMs = 16_000;

/** The parts that sending works with. */
export interface SendParts {
  readonly api: BotApi;
  readonly clock: Clock;
  readonly config: Pick<TelegramConfig, 'format' | 'mediaRoots'>;
  readonly signal: AbortSignal;
}

/** How long to wait where Telegram does not say. */
export function unsaidWait(attempt: number): number {
  return Math.min(longestUnsaidWaitMs, unsaidWaitMs * 2 ** (attempt - 1));
}

/** Sends a message as the calls that it takes. */
export async function sendMessage(
  parts: SendParts,
  message: ApprovedMessage,
  attempt: number,
): Promise<SendResult> {
  const target = targetOf(message);
  if (target === undefined)
    return { status: 'rejected', reason: `"${message.to}" is no address of Telegram` };
  const made = await partsOf(message, parts.config);
  if (made.problem !== undefined) return { status: 'rejected', reason: made.problem };
  const keyboard = keyboardOf(message);
  if (keyboard.problem !== undefined) return { status: 'rejected', reason: keyboard.problem };
  const common = fieldsOf(message);
  return sendParts(parts, { parts: made.parts, target, common, last: keyboard.fields, attempt });
}

/** The fields of a message besides its place and its text. */
export function fieldsOf(message: ApprovedMessage): Readonly<Record<string, unknown>> {
  return {
    ...replyOf(message),
    ...(message.silent === true && { disable_notification: true }),
  };
}

/** Calls that belong to one message. */
export interface Batch {
  readonly parts: readonly Part[];
  readonly target: Target;
  /** Fields of the first of them; what it answers stands there alone. */
  readonly common: Readonly<Record<string, unknown>>;
  /** Fields of the last of them: its keyboard. */
  readonly last?: Readonly<Record<string, unknown>>;
  readonly attempt: number;
  /** The ids of parts that are out already. */
  readonly before?: readonly number[];
}

/**
 * Makes calls one after the other. What Telegram refuses for now is left to the host while nothing is out; after the
 * first part only the rest is made again here, since the host would send all of it anew. A call that nobody knows the
 * end of is never made again.
 */
export async function sendParts(parts: SendParts, batch: Batch): Promise<SendResult> {
  const { api, clock, signal } = parts;
  const endsAtMs = clock.monotonicMs() + deadlineMs;
  const ids = [...(batch.before ?? [])];
  let { target } = batch;
  let hasMoved = false;
  let last: SentMessage | undefined;
  for (const [at, part] of batch.parts.entries()) {
    const { reply_parameters, ...always } = batch.common;
    const first = at === 0 && ids.length === 0 ? batch.common : always;
    const fields = { ...first, ...(at === batch.parts.length - 1 && batch.last) };
    let isPlain = false;
    for (let attempt = batch.attempt; ; attempt++) {
      const timeoutMs = Math.min(30_000, endsAtMs - clock.monotonicMs());
      if (timeoutMs <= 0) return partly(ids, batch, 'the time is up');
      if (signal.aborted) return partly(ids, batch, 'the host does not wait for the rest');
      const answer = await call(
        api,
        part,
        { ...target, ...fields, ...part.media, ...textFields(part.textField, part.text, isPlain) },
        timeoutMs,
      );
      if (answer.status === 'done') {
        last = answer.result;
        ids.push(answer.result.messageId);
        break;
      }
      const { reason } = answer;
      if (answer.status === 'unknown') return partly(ids, batch, reason);
      if (answer.status === 'refused') {
        if (isBadMarkup(answer) && !isPlain && part.text.marks.length > 0) {
          isPlain = true;
          continue;
        }
        if (answer.movedTo !== undefined && !hasMoved) {
          hasMoved = true; // once: a chat that moves on and on would never be reached
          target = { ...target, chat_id: answer.movedTo };
          continue;
        }
        if (answer.code !== 429)
          return ids.length === 0 ? { status: 'rejected', reason } : partly(ids, batch, reason);
      }
      const asked = answer.status === 'refused' ? answer.retryAfterMs : undefined;
      const retryAfterMs = asked ?? unsaidWait(attempt);
      if (ids.length === 0) return { status: 'retry-after', retryAfterMs, reason };
      if (clock.monotonicMs() + retryAfterMs >= endsAtMs) return partly(ids, batch, reason);
      await pause(clock, retryAfterMs, signal);
    }
  }
  return sent(ids, last, target);
}

async function call(
  api: BotApi,
  { method }: Part,
  payload: Readonly<Record<string, unknown>>,
  timeoutMs: number,
): Promise<ApiAnswer<SentMessage>> {
  // the fields of each method are made in parts.ts and target.ts; which go with which no type can say
  return sentMessageOf(await api.call(method, payload as never, { timeoutMs }));
}

/** Tells whether Telegram could not read the markup. It has sent nothing then. */
export function isBadMarkup(answer: { readonly code: number; readonly reason: string }): boolean {
  return answer.code === 400 && /can't parse|entit/i.test(answer.reason);
}

/** The part that is out of a message that did not go out whole. It is not sent again: that part would be doubled. */
function partly(ids: readonly number[], { parts, before = [] }: Batch, reason: string): SendResult {
  const whole = parts.length + before.length;
  return {
    status: 'ambiguous',
    reason:
      ids.length === 0 ? reason : `${ids.length} of ${whole} parts were sent; then: ${reason}`,
  };
}

/** The receipt of a message that is out. */
export function sent(
  ids: readonly number[],
  last: SentMessage | undefined,
  target: Target,
): SendResult {
  const [first] = ids;
  return {
    status: 'sent',
    receipt: {
      ...(first !== undefined && { messageId: String(first) }),
      ...(ids.length > 1 && { messageIds: ids.map(String) }),
      conversationId: conversationIdOf(last?.chatId ?? target.chat_id),
      ...(last?.sentAtMs !== undefined && { sentAtMs: last.sentAtMs }),
    },
  };
}
