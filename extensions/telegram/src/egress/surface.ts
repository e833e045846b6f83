import type { ApprovedMessage } from 'sluice/channel';
import type {
  CallAnswer,
  ChatPort,
  ChatSurface,
  PartCall,
  PostCall,
  PostedMessage,
  RefusalCause,
  RichText,
} from 'sluice/chat';
import { conversationIdOf, parseAddress } from '../address.js';
import type { ApiAnswer, BotApi } from '../api/bot-api.js';
import type { TelegramConfig } from '../config.js';
import { generalTopic } from '../ingress/place.js';
import { type Keyboard, keyboardOf } from './keyboard.js';
import { type Part, partsOf, richTextOf, textFields, textPart } from './parts.js';

/** Milliseconds between two edits; Telegram allows fewer in groups. */
const intervalsMs = { private: 900, group: 3_000 };

/** The words of a refusal because a topic is gone, or because nobody may write there. */
const noTopic = /^400: .*(?:thread not found|topic[ _](?:closed|deleted|id_invalid))/i;

/** The parts that sending by Telegram needs. */
interface SurfaceParts {
  /** The account that a message goes by; nothing if it is not connected. */
  readonly apiOf: (accountId: string) => BotApi | undefined;
  readonly config: Pick<TelegramConfig, 'format' | 'mediaRoots'>;
  /** Is told that a group has another id. */
  readonly onMoved?: (from: number | string, to: number) => void;
}

/** Telegram as messages, streams and previews go out by it. */
export function telegramSurface({ apiOf, config, onMoved }: SurfaceParts): ChatSurface<Part> {
  return {
    at: (message) => {
      const target = targetOf(message);
      if (target === undefined) return { problem: `"${message.to}" is no address of Telegram` };
      const api = apiOf(message.accountId);
      if (api === undefined) return { problem: 'its account is not connected' };
      return telegramPort(api, target, message, onMoved);
    },
    atChat: (accountId, chatId) => {
      const api = apiOf(accountId);
      if (api === undefined) throw new Error(`account "${accountId}" is not connected`);
      return telegramPort(api, { chat_id: chatId });
    },
    textOf: (message, read) => richTextOf(message, config.format, read),
    partsOf: async (message, text) => {
      const { problem } = keyboardOf(message);
      return problem === undefined ? partsOf(message, config, text) : { problem };
    },
    growing: (text: RichText) => textPart(text),
    intervalMs: (message) => {
      const isGroup = message.isGroup ?? !(Number(targetOf(message)?.chat_id) > 0);
      return isGroup ? intervalsMs.group : intervalsMs.private;
    },
  };
}

/** The calls for one message, or for a preview that was noted: of that its chat alone is known. */
function telegramPort(
  api: BotApi,
  first: Target,
  message?: ApprovedMessage,
  onMoved?: SurfaceParts['onMoved'],
): ChatPort<Part> {
  let target = first;
  let hasMoved = false;
  const keys: Keyboard = message === undefined ? { fields: {} } : keyboardOf(message);

  const payloadOf = (part: Part, { isPlain, isLast }: PartCall) => ({
    ...part.media,
    ...textFields(part.textField, part.text, isPlain),
    ...(isLast && keys.fields),
  });

  /** Posts a part; to a group that has become another it goes there, once; if its topic is gone or closed, to the chat. */
  const post = async (part: Part, call: PostCall): Promise<CallAnswer<PostedMessage>> => {
    const payload = {
      ...target,
      ...(call.isFirst && message !== undefined && replyOf(message)),
      ...(message?.silent === true && { disable_notification: true }),
      ...payloadOf(part, call),
    };
    // the fields of each method are made in parts.ts and target.ts; which go with which no type can say
    const { timeoutMs } = call;
    const answer = sentMessageOf(await api.call(part.method, payload as never, { timeoutMs }));
    if (answer.status === 'done') {
      const { chatId } = answer.result;
      if (chatId !== undefined) target = { ...target, chat_id: chatId };
      return answer;
    }
    const hasNoTopic = answer.status === 'refused' && noTopic.test(answer.reason);
    if (target.message_thread_id !== undefined && hasNoTopic) {
      target = { chat_id: target.chat_id };
      return post(part, call);
    }
    const movedTo = answer.status === 'refused' ? answer.movedTo : undefined;
    if (movedTo === undefined || hasMoved) return judged(answer, part, call);
    hasMoved = true;
    onMoved?.(target.chat_id, movedTo);
    target = { ...target, chat_id: movedTo }; // once: a chat that moves on and on would never be reached
    return post(part, call);
  };

  return {
    get chatId() {
      return target.chat_id;
    },
    get conversationId() {
      return conversationIdOf(target.chat_id);
    },
    place: JSON.stringify([first, message?.replyToId ?? null]),
    post,
    edit: async (messageId, part, call) => {
      const at = { chat_id: target.chat_id, message_id: Number(messageId) };
      const payload = { ...at, ...payloadOf(part, call) };
      const { timeoutMs } = call;
      return judged(await api.call('editMessageText', payload as never, { timeoutMs }), part, call); // as above
    },
    remove: async (messageId, timeoutMs) => {
      const payload = { chat_id: target.chat_id, message_id: Number(messageId) };
      return judged(await api.call('deleteMessage', payload, { timeoutMs }));
    },
  };
}

/** Says of a refusal if it changes the next step. */
export function judged<T>(answer: ApiAnswer<T>, part?: Part, call?: PartCall): CallAnswer<T> {
  if (answer.status !== 'refused') return answer;
  const { code, reason } = answer;
  const hasMarkup = part !== undefined && part.text.marks.length > 0 && call?.isPlain === false;
  const cause = causeOf(code, reason, hasMarkup);
  return { ...answer, ...(cause !== undefined && { cause }) };
}

function causeOf(code: number, reason: string, hasMarkup: boolean): RefusalCause | undefined {
  if (code === 429) return 'busy';
  if (code === 403) return 'forbidden';
  if (/not modified/i.test(reason)) return 'unchanged';
  if (/to delete not found/i.test(reason)) return 'gone';
  if (hasMarkup && code === 400 && /can't parse|entit/i.test(reason)) return 'markup';
  return undefined;
}

/** The target of a message, as the Bot API takes it. */
interface Target {
  readonly chat_id: number | string;
  readonly message_thread_id?: number;
}

/** The message that a message answers, as the Bot API takes it. The answer goes out also if that message is gone. */
interface ReplyParameters {
  readonly reply_parameters?: {
    readonly message_id: number;
    readonly allow_sending_without_reply: true;
  };
}

/** Finds the target of a message; `undefined`, if its address is none. The General topic of a forum is written to without its id. */
function targetOf({ to, threadId }: ApprovedMessage): Target | undefined {
  const address = parseAddress(to);
  if (address === undefined) return undefined;
  const topicId = threadId === undefined ? address.topicId : Number(threadId);
  const hasTopic =
    topicId !== undefined && Number.isSafeInteger(topicId) && topicId !== generalTopic;
  return { chat_id: address.chatId, ...(hasTopic && { message_thread_id: topicId }) };
}

/** Finds the message that a message answers. A value that is no id of a message is left out. */
function replyOf({ replyToId }: ApprovedMessage): ReplyParameters {
  const id = Number(replyToId);
  if (replyToId === undefined || !Number.isSafeInteger(id) || id <= 0) return {};
  return { reply_parameters: { message_id: id, allow_sending_without_reply: true } };
}

/** Telegram's answer about a message that it took. */
interface SentMessage {
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
function sentMessageOf(answer: ApiAnswer<unknown>): ApiAnswer<SentMessage> {
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
