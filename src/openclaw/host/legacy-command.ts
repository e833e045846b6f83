import {
  type ChatAnswer,
  type ChatCommand,
  type ChatCommandContext,
  refusal,
} from '../../host/provided/chat-commands.js';
import { definedFields, isFields, oneLine } from '../../kernel/index.js';
import type { LegacyCommand, LegacyCommandContext, LegacyPlugin } from '../index.js';

/** Characters of a command's arguments that are handed on. */
const maxArgsLength = 4_096;

/**
 * Makes the commands of plugins chat commands. A name stays with the first command that has it, and the plugin of another is
 * told.
 *
 * @param own the host's own commands: no plugin stands over one.
 */
export function commandsOfPlugins(
  plugins: readonly LegacyPlugin[],
  own: readonly ChatCommand[],
): readonly ChatCommand[] {
  const taken = new Set(own.map(({ name }) => name));
  return plugins.flatMap((plugin) =>
    plugin.commands
      .map((command) => chatCommandOf(plugin, command))
      .filter(({ name }) => {
        const isFree = !taken.has(name);
        if (!isFree) plugin.logger.warn(`command "${name}" is left out: another has that name`);
        taken.add(name);
        return isFree;
      }),
  );
}

function chatCommandOf(plugin: LegacyPlugin, command: LegacyCommand): ChatCommand {
  const name = command.name.trim().toLowerCase();
  const { handler: answer } = command;
  return {
    name,
    description: command.description.trim(),
    ...(command.requireAuth === false && { forAnyone: true }),
    run: async (context) => {
      const called = contextOf(plugin, context);
      if (called.args !== undefined && command.acceptsArgs !== true)
        return refusal(`"/${name}" takes nothing after its name.`);
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
