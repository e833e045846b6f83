import type { DecodedIngress, InboundMessage, Interaction } from 'sluice/channel';
import { admit } from 'sluice/chat';
import { type AccessConfig, rulesOf, type SlackConfig } from '../config.js';
import { pressOf } from '../egress/elements.js';
import {
  type Attached,
  blockActions,
  changeEvent,
  type MessageEvent,
  messageEvent,
  type SlackUpdate,
  slackUpdate,
  slashCommand,
} from './update.js';

/** The bot of an account, as Slack knows it. */
export interface BotIdentity {
  readonly userId: string;
  readonly name: string;
  readonly botId?: string;
}

/** The parts that an update is decoded with. */
interface DecodeContext {
  readonly accountId: string;
  readonly bot: BotIdentity;
  readonly config: AccessConfig & Pick<SlackConfig, 'edits' | 'replyInThread' | 'slashCommand'>;
}

/** The subtypes of messages that people write. */
const written = new Set(['file_share', 'me_message', 'thread_broadcast']);

/** Makes a message, a command or a press of an update, if whoever sent it may. Pure: who may is in the settings. */
export function decodeUpdate(raw: unknown, context: DecodeContext): DecodedIngress {
  const update = slackUpdate.safeParse(raw);
  if (!update.success) return undecodable('it is no update of Slack', '/type');
  const { type, body } = update.data;
  if (type === 'slash_commands') return decodeCommand(body, context);
  return type === 'interactive' ? decodePress(body, context) : decodeEvent(body, context);
}

function decodeEvent({ event, team_id: teamId }: Body, context: DecodeContext): DecodedIngress {
  if (event?.type !== 'message' && event?.type !== 'app_mention')
    return ignored(`an event of the type ${event?.type ?? 'none'}`);
  const { subtype } = event;
  if (subtype === 'message_deleted') return ignored('a deletion');
  if (subtype === 'message_changed') return decodeChange(event, context, teamId);
  if (subtype !== undefined && !written.has(subtype))
    return ignored(`a message of the kind ${subtype}`);
  const message = messageEvent.safeParse(event);
  if (!message.success) return undecodable('its message has no channel or no ts', '/body/event');
  return decodeMessage(message.data, context, { teamId });
}

/** An edit. Slack tells of its own changes in the same way, such as of the picture of a link. */
function decodeChange(event: unknown, context: DecodeContext, teamId?: string): DecodedIngress {
  const change = changeEvent.safeParse(event);
  if (!change.success) return undecodable('its edit has no message', '/body/event/message');
  const { message, previous_message: before, ...place } = change.data;
  if (message.edited === undefined || message.text === before?.text)
    return ignored('a change that nobody wrote');
  if (context.config.edits === 'ignore') return ignored('an edit');
  return decodeMessage({ ...message, ...place }, context, { teamId, isEdited: true });
}

function decodeMessage(
  message: MessageEvent,
  { accountId, bot, config }: DecodeContext,
  { teamId, isEdited }: { readonly teamId: string | undefined; readonly isEdited?: boolean },
): DecodedIngress {
  const { user, ts, text, channel, thread_ts: threadTs } = message;
  if (user === undefined || user === bot.userId || message.bot_id !== undefined)
    return ignored('a message of a bot');
  const wasMentioned = mentions(text, bot.userId);
  const isAddressed = wasMentioned || message.parent_user_id === bot.userId;
  const sender = { id: user };
  const { isGroup, admission } = visitOf(channel, sender, isAddressed, config);
  if (!admission.isAdmitted) return ignored(admission.reason);
  // a message in a channel begins the thread that it is answered in
  const threadId = threadTs ?? (isGroup && config.replyInThread ? ts : undefined);
  const files = [...message.files, ...message.attachments.flatMap((attached) => attached.files)];
  const shared = [...message.attachments.map(sharedOf), ...files.map(titleOf)].flat();
  const decoded: InboundMessage = {
    ...messageAt({ accountId, channel, isGroup, threadId, user }),
    messageId: ts,
    sender,
    content: readableText(text),
    attachments: files.map(attachmentOf),
    ...(shared.length > 0 && { shared }),
    sentAtMs: Math.floor(Number(ts) * 1_000),
    ...(isEdited === true && { isEdited }),
    wasMentioned,
    commandAuthorized: admission.mayCommand, // also of a text: the host may read it as a command
    ...(teamId !== undefined && { guildId: teamId }),
    metadata: { chatType: message.channel_type ?? (isGroup ? 'channel' : 'im') },
  };
  if (decoded.content === '' && decoded.attachments.length === 0 && shared.length === 0)
    return ignored('a message without text or file');
  return { kind: 'message', message: decoded, senderProof: 'account' };
}

function decodeCommand(body: unknown, { accountId, config }: DecodeContext): DecodedIngress {
  const read = slashCommand.safeParse(body);
  if (!read.success) return undecodable('its command has no name, person or channel', '/body');
  const { user_id: user, channel_id: channel, thread_ts: threadId, ...command } = read.data;
  const { user_name: username } = command;
  const sender = { id: user, ...(username !== undefined && { username }) };
  const { isGroup, admission } = visitOf(channel, sender, true, config);
  if (!admission.isAdmitted) return ignored(admission.reason);
  const said = readableText(command.text);
  const words = said.split(/\s+/).filter((word) => word !== '');
  const isOurs = command.command === config.slashCommand;
  const name = isOurs ? (words.shift() ?? 'help') : command.command.slice(1);
  const rest = isOurs ? said.replace(/^\S+\s*/, '') : said;
  const at = { accountId, channel, isGroup, threadId };
  const interaction: Interaction = {
    interactionId: command.trigger_id ?? name,
    kind: 'command',
    name,
    values: words,
    ...addressOf(at),
    sender,
  };
  const message: InboundMessage = {
    ...messageAt({ ...at, user }),
    sender,
    content: [`/${name}`, rest].filter((part) => part !== '').join(' '),
    attachments: [],
    commandAuthorized: admission.mayCommand,
    commandSource: 'native',
    ...(command.channel_name !== undefined && { channelName: command.channel_name }),
    ...(command.team_id !== undefined && { guildId: command.team_id }),
    metadata: {},
  };
  return { kind: 'command', interaction, message, senderProof: 'account' };
}

function decodePress(body: Body, { accountId, config }: DecodeContext): DecodedIngress {
  if (body.type !== 'block_actions') return ignored(`an interaction of the type ${body.type}`);
  const read = blockActions.safeParse(body);
  if (!read.success) return undecodable('its press has no person, channel or action', '/body');
  const { user, channel, message, trigger_id: trigger, actions } = read.data;
  const username = user.username ?? user.name;
  const sender = { id: user.id, ...(username !== undefined && { username }) };
  const { isGroup, admission } = visitOf(channel.id, sender, true, config);
  if (!admission.isAdmitted) return ignored(admission.reason);
  const press = pressOf(read.data);
  const interactionId = trigger ?? actions[0]?.action_ts ?? press.name;
  const at = addressOf({ accountId, channel: channel.id, isGroup, threadId: message?.thread_ts });
  const under = message && { messageId: message.ts };
  const interaction = { interactionId, ...press, ...at, ...under, sender };
  return { kind: 'interaction', interaction, senderProof: 'account' };
}

type Body = SlackUpdate['body'];
type Sender = NonNullable<InboundMessage['sender']>;

/** A place that something was said in. */
interface Spot {
  readonly accountId: string;
  readonly channel: string;
  readonly isGroup: boolean;
  readonly threadId: string | undefined;
}

/** The fields of an interaction, and of a message, that say where it was made. */
function addressOf({ accountId, channel, isGroup, threadId }: Spot) {
  return {
    ...{ channel: 'slack', accountId, conversationId: channel, isGroup },
    ...(threadId !== undefined && { threadId }),
  };
}

/** The fields of a message that say where it goes and comes from. */
function messageAt({ user, ...spot }: Spot & { readonly user: string }) {
  const { channel, isGroup } = spot;
  return {
    ...addressOf(spot),
    ...{ provider: 'slack', surface: 'slack', originatingChannel: 'slack', originatingTo: channel },
    from: isGroup ? `slack:channel:${channel}` : `slack:${user}`,
    to: channel,
    ...(isGroup && { groupId: channel }),
  };
}

/** Judges who writes where. A conversation of one person and the bot has an id that begins with D. */
function visitOf(channel: string, sender: Sender, isAddressed: boolean, config: AccessConfig) {
  const isGroup = !channel.startsWith('D');
  const visit = { ...(isGroup && { groupId: channel }), sender, isAddressed };
  return { isGroup, admission: admit(visit, rulesOf(config)) };
}

const kinds = ['image', 'audio', 'video'] as const;

/** A file by its id. Its address asks for the bot's token. */
function attachmentOf(file: MessageEvent['files'][number]): InboundMessage['attachments'][number] {
  const { id, name, mimetype: mimeType, size: sizeBytes, url_private: url } = file;
  const kind = kinds.find((one) => mimeType?.startsWith(`${one}/`)) ?? 'document';
  return {
    kind,
    ...(id !== undefined && { id }),
    ...(name !== undefined && { name }),
    ...(mimeType !== undefined && { mimeType }),
    ...(sizeBytes !== undefined && { sizeBytes }),
    ...(url !== undefined && { url }),
  };
}

type Shared = NonNullable<InboundMessage['shared']>;

/** A message that was shared, or the preview of a link. */
function sharedOf(attached: Attached): Shared {
  const { title, fields, service_name: service, author_name: from = service } = attached;
  const { title_link: link, original_url: original = link, from_url: url = original } = attached;
  const isMessage = attached.is_share === true || attached.is_msg_unfurl === true;
  const listed = fields.map((field) => [field.title, field.value].filter(Boolean).join(': '));
  const said = [attached.pretext, attached.text ?? attached.fallback, ...listed];
  const text = readableText(said.filter(Boolean).join('\n'));
  if (text === '' && title === undefined && url === undefined) return [];
  return [
    {
      kind: isMessage ? 'message' : url === undefined ? 'other' : 'link',
      ...(title !== undefined && { title: readableText(title) }),
      ...(from !== undefined && { from }),
      ...(text !== '' && { text }),
      ...(url !== undefined && { url }),
    },
  ];
}

/** The title of a file, if it is not its name. */
function titleOf({ name, title }: MessageEvent['files'][number]): Shared {
  if (title === undefined || title === name) return [];
  return [{ kind: 'file', title, ...(name !== undefined && { text: name }) }];
}

function ignored(reason: string): DecodedIngress {
  return { kind: 'ignored', reason };
}

function undecodable(problem: string, path: string): DecodedIngress {
  return { kind: 'undecodable', problem, path };
}

const entities: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };

/**
 * The text of a message as its writer wrote it: links as Markdown, channels and groups by their names. A mention of a
 * person stays as Slack writes it, `<@U012AB3CD>`: it is an id, and names are not in the message.
 */
export function readableText(text: string): string {
  const links = text.replace(/<([^<>]+)>/g, (whole, inside: string) => {
    if (!/^(?:[#!]|[a-z][a-z\d+.-]*:)/i.test(inside)) return whole;
    const [target = '', label] = inside.split(/\|(.*)/s);
    if (target.startsWith('#')) return `#${label || target.slice(1)}`;
    if (target.startsWith('!')) return label || `@${target.slice(1).split('^')[0]}`;
    return label === undefined || label === target ? target : `[${label}](${target})`;
  });
  return links.replace(/&(?:amp|lt|gt);/g, (entity) => entities[entity] ?? entity).trim();
}

/** Returns whether a text mentions a member. */
export function mentions(text: string, userId: string): boolean {
  return text.includes(`<@${userId}>`) || text.includes(`<@${userId}|`);
}
