import type { CallbackQuery, MaybeInaccessibleMessage, Message, Update } from 'grammy/types';
import type { DecodedIngress, InboundMessage, Interaction } from 'sluice/channel';
import { admit } from 'sluice/chat';
import { conversationIdOf } from '../address.js';
import type { AccessConfig, TelegramConfig } from '../config.js';
import { pressOf } from '../egress/keyboard.js';
import { aroundOf } from './around.js';
import { attachmentsOf } from './attachments.js';
import type { Edits } from './edits.js';
import {
  type BotIdentity,
  isMentioned,
  linkedTextOf,
  markdownOf,
  slashCommandOf,
} from './mention.js';
import { type Place, placeOf } from './place.js';
import { personOf, proofOf, senderOf } from './sender.js';

/** The parts that an update is decoded with. */
interface DecodeContext {
  readonly accountId: string;
  readonly bot: BotIdentity;
  readonly config: AccessConfig & Pick<TelegramConfig, 'edits'>;
  /** The edits that came in; without them each counts as one. */
  readonly edits?: Edits;
}

/** The kinds of update that Telegram is asked for. */
export const wantedUpdates = [
  'message',
  'edited_message',
  'channel_post',
  'edited_channel_post',
  'callback_query',
] as const satisfies readonly (keyof Update)[];

/**
 * Makes a message, a command or a press of an update, if whoever sent it may. Who may is in the settings.
 */
export function decodeUpdate(raw: unknown, context: DecodeContext): DecodedIngress {
  if (!isUpdate(raw))
    return { kind: 'undecodable', problem: 'it is no update of the Bot API', path: '/update_id' };
  if (raw.callback_query !== undefined) return decodePress(raw.callback_query, context);
  const edited = raw.edited_message ?? raw.edited_channel_post;
  if (edited !== undefined && context.config.edits === 'ignore') return ignored('an edit');
  const message = raw.message ?? raw.channel_post ?? edited;
  return message === undefined
    ? ignored('an update that is neither message nor press')
    : decodeMessage(raw.update_id, message, context, edited !== undefined);
}

function decodeMessage(
  updateId: number,
  message: Message,
  context: DecodeContext,
  isEdited: boolean,
): DecodedIngress {
  if (!isMessage(message))
    return { kind: 'undecodable', problem: 'its message has no chat or no id', path: '/message' };
  if (context.edits?.isUnchanged(updateId, message) === true)
    return ignored('an edit that changes nothing');
  if (message.from?.is_bot === true && message.sender_chat === undefined)
    return ignored('a message of a bot');
  const { accountId, bot, config } = context;
  const command = slashCommandOf(message, bot);
  if (command?.isForAnother === true) return ignored('a command for another bot');
  const place = placeOf(message, bot);
  const sender = senderOf(message);
  const isAddressed = command !== undefined || isMentioned(message, bot);
  const admission = admit({ ...groupOf(place), sender, isAddressed }, config);
  if (!admission.isAdmitted) return ignored(admission.reason);
  const decoded: InboundMessage = {
    ...inboundMessageOf(message, context),
    commandAuthorized: admission.mayCommand, // also of a text: the host may read it as a command
  };
  const { content, attachments, shared } = decoded;
  if (content === '' && attachments.length === 0 && (shared === undefined || isEdited))
    return ignored('a message without text or file');
  const proof = proofOf(message);
  if (command === undefined) return { kind: 'message', message: decoded, ...proof };
  if (isEdited) return ignored('an edit of a command');
  const { name, rest } = command;
  const values = rest.split(/\s+/).filter((word) => word !== '');
  const interaction: Interaction = {
    interactionId: String(message.message_id),
    kind: 'command',
    name,
    values,
    ...addressOf(message, place, accountId),
    sender,
    sentAtMs: message.date * 1_000,
  };
  // what every chat with a bot begins with; it asks what the bot can do
  const known = name.toLowerCase() === 'start' ? 'help' : name;
  const said = [`/${known}`, rest].filter((part) => part !== '').join(' ');
  const asked: InboundMessage = { ...decoded, content: said, commandSource: 'native' };
  return { kind: 'command', interaction, message: asked, ...proof };
}

function decodePress(query: CallbackQuery, context: DecodeContext): DecodedIngress {
  if (typeof query.id !== 'string' || query.from === undefined)
    return { kind: 'undecodable', problem: 'its press has no id', path: '/callback_query' };
  const { message, data, game_short_name: game } = query;
  if (message === undefined) return ignored('a press under an inline message');
  const sender = personOf(query.from);
  const place = pressPlaceOf(message, context.bot);
  const admission = admit({ ...groupOf(place), sender, isAddressed: true }, context.config);
  if (!admission.isAdmitted) return ignored(admission.reason);
  const press = pressOf(data ?? game ?? '');
  const at = addressOf(message, place, context.accountId);
  const interaction = { interactionId: query.id, ...press, ...at, sender };
  return { kind: 'interaction', interaction, senderProof: 'account' };
}

/** A place, as far as a press under an old message tells it. */
type Spot = Omit<Place, 'from' | 'title'>;

/** The group of a place, as the settings name it. */
function groupOf({ isGroup, conversationId }: Spot) {
  return isGroup ? { groupId: conversationId.replace(/^telegram:/, '') } : {};
}

/** The fields of an interaction, and of a message, that say where it was made. */
function addressOf(
  { message_id: messageId }: MaybeInaccessibleMessage,
  { conversationId, threadId, isGroup }: Spot,
  accountId: string,
) {
  return {
    channel: 'telegram',
    accountId,
    conversationId,
    ...(threadId !== undefined && { threadId }),
    messageId: String(messageId),
    isGroup,
  };
}

/** The place of a button. Of a message that is too old only its chat is known. */
function pressPlaceOf(message: MaybeInaccessibleMessage, bot: BotIdentity): Spot {
  if (message.date !== 0) return placeOf(message, bot);
  const { id, type } = message.chat;
  return { isGroup: type !== 'private', conversationId: conversationIdOf(id) };
}

function ignored(reason: string): DecodedIngress {
  return { kind: 'ignored', reason };
}

/** Returns whether a value is an update. The fields that are read of it are checked where they are read. */
export function isUpdate(raw: unknown): raw is Update {
  return (
    typeof raw === 'object' &&
    raw !== null &&
    'update_id' in raw &&
    Number.isSafeInteger(raw.update_id)
  );
}

function isMessage(message: unknown): message is Message {
  if (typeof message !== 'object' || message === null) return false;
  const { chat, message_id: id, date } = message as Partial<Message>;
  return Number.isSafeInteger(chat?.id) && Number.isSafeInteger(id) && Number.isFinite(date);
}

/** Makes the payload of `ingress.normalized`, field by field as spec/pilots/telegram.md has it. */
function inboundMessageOf(message: Message, { accountId, bot }: DecodeContext): InboundMessage {
  const place = placeOf(message, bot);
  const { conversationId } = place;
  const promptText = markdownOf(message);
  const sentAtMs = (message.edit_date ?? message.date) * 1_000;
  const languageCode = message.from?.language_code;
  return {
    ...addressOf(message, place, accountId),
    provider: 'telegram',
    surface: 'telegram',
    originatingChannel: 'telegram',
    originatingTo: conversationId,
    from: place.from,
    to: conversationId,
    sender: senderOf(message),
    ...(place.title !== undefined && { channelName: place.title }),
    ...(place.isGroup && { groupId: conversationId }),
    content: linkedTextOf(message) || (message.sticker?.emoji ?? ''),
    ...(promptText !== undefined && { promptText }),
    attachments: attachmentsOf(message),
    ...aroundOf(message),
    sentAtMs,
    ...(message.edit_date !== undefined && { isEdited: true }),
    wasMentioned: isMentioned(message, bot),
    metadata: {
      chatType: message.chat.type,
      ...(message.media_group_id !== undefined && { mediaGroupId: message.media_group_id }),
      ...(languageCode !== undefined && { languageCode }),
    },
  };
}
