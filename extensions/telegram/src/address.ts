/** A place to send to. */
interface Address {
  /** A chat's id, or the `@name` of a public one. */
  readonly chatId: number | string;
  readonly topicId?: number;
}

/**
 * Reads an address as this channel writes it, or as people do: `telegram:42`, `tg:group:-100:topic:7`, `-100:7`, `42`,
 * `@name`.
 *
 * @returns `undefined` where it is none.
 */
export function parseAddress(to: string): Address | undefined {
  const bare = to
    .trim()
    .replace(/^(telegram|tg):/i, '')
    .replace(/^group:/i, '');
  const match = /^(-?\d{1,16}|@[A-Za-z]\w{3,31})(?::(?:topic:)?(\d{1,10}))?$/.exec(bare);
  if (match === null) return undefined;
  const [, chat = '', topic] = match;
  return {
    chatId: chat.startsWith('@') ? chat : Number(chat),
    ...(topic !== undefined && { topicId: Number(topic) }),
  };
}

/** The conversation that a chat is: the same address for what comes from there and for what goes there. */
export function conversationIdOf(chatId: number | string): string {
  return `telegram:${chatId}`;
}
