import type { ApiAnswer } from './bot-api.js';

/** Telegram's answer about a message that it took. */
export interface SentMessage {
  readonly messageId: number;
  /** The chat that it is in. */
  readonly chatId?: number;
  /** Milliseconds since 1970. */
  readonly sentAtMs?: number;
}

/**
 * Reads the answer of a call that sends. If Telegram says that it was done and names no message, nobody knows whether
 * there is one: it may not be Telegram that answered.
 */
export function sentMessageOf(answer: ApiAnswer<unknown>): ApiAnswer<SentMessage> {
  if (answer.status !== 'done') return answer;
  const { message_id: messageId, date, chat } = Object(answer.result) as Unchecked;
  if (!isId(messageId))
    return { status: 'unknown', reason: 'Telegram said that it was sent, and named no message' };
  const { id: chatId } = Object(chat) as Unchecked;
  const result = {
    messageId,
    ...(isId(chatId) && { chatId }),
    ...(isId(date) && { sentAtMs: date * 1_000 }),
  };
  return { status: 'done', result };
}

/** Fields that nothing has checked. */
type Unchecked = Readonly<Record<string, unknown>>;

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
