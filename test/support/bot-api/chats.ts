import { visibleText } from './visible-text.js';

/** A message that a chat shows. */
export interface ShownInChat {
  readonly messageId: number;
  readonly chatId: number | string;
  readonly threadId?: number;
  readonly replyToId?: number;
  /** As people see it. */
  readonly text: string;
  readonly html: boolean;
  /** The field that holds its file, and what was sent for it. */
  readonly media?: { readonly field: string; readonly source: string };
}

/** Why a call is refused, as the Bot API puts it. */
export class Refused extends Error {
  readonly code: number;
  readonly parameters: object | undefined;

  constructor(code: number, description: string, parameters?: object) {
    super(description);
    this.code = code;
    this.parameters = parameters;
  }
}

type Payload = Readonly<Record<string, unknown>>;

const mediaFields = ['photo', 'audio', 'voice', 'video', 'animation', 'document'];

/** What the chats of a bot show, by the rules of the Bot API: lengths, markup, what can be edited. */
export class Chats {
  readonly #shown = new Map<number, ShownInChat>();
  #lastId = 1_000;
  /** The topics that can be written to; every topic where it is absent. */
  topics: ReadonlySet<number> | undefined;
  /** Topics that are there, and closed. */
  closed: ReadonlySet<number> = new Set();
  /** Groups that have become another, by their old ids. */
  readonly moved = new Map<number, number>();

  /** Everything that is there, oldest first. */
  get all(): readonly ShownInChat[] {
    return [...this.#shown.values()];
  }

  send(payload: Payload, nowMs: number): object {
    const field = mediaFields.find((one) => payload[one] !== undefined);
    const limit = field === undefined ? 4_096 : 1_024;
    const text = textOf(payload, field === undefined ? 'text' : 'caption', limit);
    if (text === '' && field === undefined)
      throw new Refused(400, 'Bad Request: message text is empty');
    const reply = parsed(payload['reply_parameters']) as { message_id?: number } | undefined;
    const threadId = numberOf(payload['message_thread_id']);
    const movedTo = this.moved.get(Number(payload['chat_id']));
    if (movedTo !== undefined)
      throw new Refused(400, 'Bad Request: group chat was upgraded to a supergroup chat', {
        migrate_to_chat_id: movedTo,
      });
    if (threadId !== undefined && this.closed.has(threadId))
      throw new Refused(400, 'Bad Request: TOPIC_CLOSED');
    if (threadId !== undefined && this.topics?.has(threadId) === false)
      throw new Refused(400, 'Bad Request: message thread not found');
    const shown: ShownInChat = {
      messageId: ++this.#lastId,
      chatId: chatOf(payload),
      ...(threadId !== undefined && { threadId }),
      ...(reply?.message_id !== undefined && { replyToId: reply.message_id }),
      text,
      html: payload['parse_mode'] === 'HTML',
      ...(field !== undefined && { media: { field, source: String(payload[field]) } }),
    };
    this.#shown.set(shown.messageId, shown);
    return messageOf(shown, nowMs);
  }

  edit(payload: Payload, nowMs: number): object {
    const before = this.#find(payload, 'edit');
    const text = textOf(payload, 'text', 4_096);
    const html = payload['parse_mode'] === 'HTML';
    if (text === before.text && html === before.html)
      throw new Refused(400, 'Bad Request: message is not modified');
    const after = { ...before, text, html };
    this.#shown.set(after.messageId, after);
    return messageOf(after, nowMs);
  }

  remove(payload: Payload): true {
    this.#shown.delete(this.#find(payload, 'delete').messageId);
    return true;
  }

  #find(payload: Payload, verb: string): ShownInChat {
    const found = this.#shown.get(Number(payload['message_id']));
    if (found === undefined || String(found.chatId) !== String(payload['chat_id']))
      throw new Refused(400, `Bad Request: message to ${verb} not found`);
    return found;
  }
}

function chatOf({ chat_id: id }: Payload): number | string {
  if (id === undefined) throw new Refused(400, 'Bad Request: chat_id is empty');
  return typeof id === 'string' && /^-?\d+$/.test(id) ? Number(id) : (id as number | string);
}

function textOf(payload: Payload, field: string, limit: number): string {
  const text = String(payload[field] ?? '');
  const visible = payload['parse_mode'] === 'HTML' ? visibleText(text) : text;
  if (visible === undefined)
    throw new Refused(400, "Bad Request: can't parse entities: the markup is not well-formed");
  if (Buffer.from(visible).toString() !== visible)
    // half of a pair
    throw new Refused(400, 'Bad Request: strings must be encoded in UTF-8');
  if (visible.length > limit)
    throw new Refused(400, `Bad Request: message ${field === 'text' ? '' : 'caption '}is too long`);
  return visible.trim();
}

function messageOf({ messageId, chatId, text }: ShownInChat, nowMs: number): object {
  return {
    message_id: messageId,
    date: Math.floor(nowMs / 1_000),
    chat: { id: chatId, type: Number(chatId) > 0 ? 'private' : 'supergroup' },
    from: { id: 7, is_bot: true, first_name: 'Lima', username: 'lima_bot' },
    text,
  };
}

function parsed(value: unknown): unknown {
  return typeof value === 'string' ? JSON.parse(value) : value;
}

function numberOf(value: unknown): number | undefined {
  return value === undefined ? undefined : Number(value);
}
