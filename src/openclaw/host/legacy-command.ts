import type { ChatAnswer, ChatCommand, ChatCommandContext } from '@sluice/host';
import { definedFields, isFields, oneLine } from 'sluice-kernel/internal';
import type { LegacyPlugin } from '../plugin/shape/plugin.js';
import type { LegacyCommand, LegacyCommandContext } from '../plugin/shape/shapes.js';

/** Characters of a command's arguments that are handed on. */
const maxArgsLength = 4_096;

/** Makes a command of a plugin a chat command. */
export function legacyCommand(plugin: LegacyPlugin, command: LegacyCommand): ChatCommand {
  const name = command.name.trim().toLowerCase();
  const { handler: answer } = command;
  return {
    name,
    description: command.description.trim(),
    ...(command.requireAuth === false && { forAnyone: true }),
    run: async (context) => {
      const called = contextOf(plugin, context);
      if (called.args !== undefined && command.acceptsArgs !== true) {
        const text = `"/${name}" takes nothing after its name.`;
        return { text, error: text };
      }
      let reply: unknown;
      try {
        reply = await answer.call(command, called);
      } catch (thrown) {
        const error = oneLine(thrown);
        plugin.logger.error(`command "${name}" failed`, { error: thrown });
        return { text: `"/${name}" failed.`, error }; // what a plugin throws is not for its sender
      }
      return answerOf(reply);
    },
  };
}

function contextOf(
  { config }: LegacyPlugin,
  { message, isAuthorized }: ChatCommandContext,
): LegacyCommandContext {
  const { channel, surface, sender, from, to, accountId, threadId } = message;
  const body = message.content.trim();
  const [, rest = ''] = /^\S+\s*(.*)$/s.exec(body) ?? [];
  const args = rest.replace(/[^\P{Cc}\t\n]/gu, '').slice(0, maxArgsLength);
  const thread = Number(threadId ?? Number.NaN);
  return {
    channel: surface ?? channel,
    channelId: channel,
    isAuthorizedSender: isAuthorized,
    commandBody: body,
    config,
    from,
    ...(args !== '' && { args }),
    ...(sender?.id !== undefined && { senderId: sender.id }),
    ...definedFields({ to, accountId }),
    ...(Number.isInteger(thread) && { messageThreadId: thread }),
  };
}

/** Turns the return value of a command into an answer. It comes from outside: a value that is no reply says nothing. */
function answerOf(reply: unknown): ChatAnswer {
  if (typeof reply === 'string') return { text: reply };
  if (typeof reply !== 'object' || reply === null) return { text: '' };
  const { text, mediaUrl, mediaUrls, audioAsVoice, isError, channelData } = reply as Partial<
    Record<string, unknown>
  >; // read field by field
  const said = typeof text === 'string' ? text : '';
  const listed = Array.isArray(mediaUrls) ? (mediaUrls as unknown[]) : [];
  const urls = (listed.length > 0 ? listed : [mediaUrl]).filter((url) => typeof url === 'string');
  return {
    text: said,
    attachments: urls.map((url) => ({
      kind: 'other',
      url,
      ...(audioAsVoice === true && { asVoice: true }),
    })),
    ...(isError === true && { error: said || 'it failed' }),
    ...(isFields(channelData) && { metadata: { channelData } }),
  };
}
