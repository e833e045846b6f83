import type { Message, MessageEntity } from 'grammy/types';
import { toMarkdown } from '../text/markdown.js';
import type { Content } from './attachments.js';

/** The names that the bot is known by. */
export interface BotIdentity {
  readonly id: number;
  readonly username: string;
  /** Its private chats have topics. */
  readonly hasTopics?: boolean;
}

/** The text of a message, or what is written under its media. */
function textOf(message: Pick<Content, 'text' | 'caption'>): string {
  return message.text ?? message.caption ?? '';
}

/** The same with its links as Markdown: where they go is not in the text itself. */
export function linkedTextOf(message: Content): string {
  const links = entitiesOf(message).filter(({ type }) => type === 'text_link');
  return toMarkdown(textOf(message), links).trim();
}

/** The same as Markdown, for an agent; nothing if it says no more than its links do. */
export function markdownOf(message: Content): string | undefined {
  const markdown = toMarkdown(textOf(message), entitiesOf(message)).trim();
  return markdown === linkedTextOf(message) ? undefined : markdown;
}

function entitiesOf(message: Content): readonly MessageEntity[] {
  return message.entities ?? message.caption_entities ?? [];
}

/** Returns whether a message names the bot: by its name, by a link to it, or by answering it. */
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
