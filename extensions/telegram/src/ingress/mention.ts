import type { Message, MessageEntity } from 'grammy/types';

/** The names that the bot is known by. */
export interface BotIdentity {
  readonly id: number;
  readonly username: string;
}

/** The text of a message, or what is written under its media. */
export function textOf(message: Message): string {
  return message.text ?? message.caption ?? '';
}

/** The same with its links as Markdown: where they go is not in the text itself. */
export function linkedTextOf(message: Message): string {
  const links = entitiesOf(message).flatMap((entity) =>
    entity.type === 'text_link' ? [entity] : [],
  );
  let text = textOf(message);
  for (const { offset, length, url } of links.toSorted((a, b) => b.offset - a.offset)) {
    const end = offset + length;
    text = `${text.slice(0, offset)}[${text.slice(offset, end)}](${url})${text.slice(end)}`;
  }
  return text.trim();
}

function entitiesOf(message: Message): readonly MessageEntity[] {
  return message.entities ?? message.caption_entities ?? [];
}

/** Tells whether a message names the bot: by its name, by a link to it, or by answering it. */
export function isMentioned(message: Message, bot: BotIdentity): boolean {
  if (message.reply_to_message?.from?.id === bot.id) return true;
  const text = textOf(message);
  const name = `@${bot.username}`.toLowerCase();
  return entitiesOf(message).some((entity) => {
    if (entity.type === 'text_mention') return entity.user.id === bot.id;
    if (entity.type !== 'mention' && entity.type !== 'bot_command') return false;
    const said = text.slice(entity.offset, entity.offset + entity.length).toLowerCase();
    return entity.type === 'mention' ? said === name : said.endsWith(name);
  });
}

/**
 * The command that a message is: Telegram marks it, at its very beginning.
 *
 * @returns its name, the text that follows it, and whether it names another bot.
 */
export function slashCommandOf(message: Message, bot: BotIdentity) {
  const first = entitiesOf(message).find(({ offset }) => offset === 0);
  if (first?.type !== 'bot_command') return undefined;
  const text = textOf(message);
  const [name = '', addressee] = text.slice(1, first.length).split('@');
  if (!/^[a-z]/i.test(name)) return undefined; // "/1" is marked, too
  return {
    name,
    rest: text.slice(first.length).trim(),
    isForAnother: addressee !== undefined && addressee.toLowerCase() !== bot.username.toLowerCase(),
  };
}
