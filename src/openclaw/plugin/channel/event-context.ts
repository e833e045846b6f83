import { definedFields, type Fields, fieldsOf, isFields } from 'sluice-kernel/internal';
import { finalizeInboundContext } from './context.js';
import { listOf } from './settings.js';

/** The parts of an event as a channel of profile 2026.9 tells them. */
type Facts = Readonly<Record<string, unknown>>;

/** `inbound.buildContext`: the context of a message, made of the facts of its event. Such a context is a dispatcher's. */
export function eventContext(given: Facts): Fields {
  const part = (name: string): Fields => fieldsOf(given[name]);
  const [sender, conversation, route] = [part('sender'), part('conversation'), part('route')];
  const [reply, message, access] = [part('reply'), part('message'), part('access')];
  const mentions = fieldsOf(access['mentions']);
  const commands = fieldsOf(access['commands']);
  const command = isFields(given['commandTurn']) ? part('commandTurn') : part('command');
  const commandSource = sourceOf(command['kind'] ?? command['source']);
  const proven = commandSource === undefined ? undefined : command['authorized']; // of a command, its own word counts
  const { rawBody } = message;
  const written = message['commandBody'] ?? rawBody;
  const isDirect = conversation['kind'] === 'direct';
  const context: Record<string, unknown> = {
    ...{ Body: message['body'] ?? rawBody, RawBody: rawBody },
    ...{ CommandBody: written, BodyForCommands: written },
    BodyForAgent: message['bodyForAgent'] ?? rawBody,
    InboundHistory: message['inboundHistory'],
    ...{ From: given['from'], To: reply['to'] },
    SessionKey: route['dispatchSessionKey'] ?? route['routeSessionKey'],
    ParentSessionKey: route['parentSessionKey'],
    AgentId: route['agentId'],
    AccountId: route['accountId'] ?? given['accountId'],
    ...{ MessageSid: given['messageId'], MessageSidFull: given['messageIdFull'] },
    ...{ ReplyToId: reply['replyToId'], ReplyToIdFull: reply['replyToIdFull'] },
    ...{ ChatType: conversation['kind'], ChatId: conversation['id'] },
    ConversationLabel: conversation['label'],
    GroupSubject: isDirect ? undefined : conversation['label'],
    GroupSpace: conversation['spaceId'],
    SenderName: sender['name'] ?? sender['displayLabel'],
    ...{ SenderId: sender['id'], SenderUsername: sender['username'], SenderTag: sender['tag'] },
    Timestamp: given['timestamp'],
    Provider: given['provider'] ?? given['channel'],
    Surface: given['surface'] ?? given['provider'] ?? given['channel'],
    WasMentioned: mentions['wasMentioned'],
    CommandAuthorized: (proven ?? commands['authorized']) === true,
    CommandSource: commandSource,
    MessageThreadId: reply['messageThreadId'] ?? conversation['threadId'],
    NativeChannelId: reply['nativeChannelId'] ?? conversation['nativeChannelId'],
    OriginatingChannel: given['channel'],
    OriginatingTo: reply['originatingTo'] ?? reply['to'],
    ...supplements(part('supplemental'), given['contextVisibility']),
    ...filesOf(given['media']),
    ...part('extra'),
  };
  return finalizeInboundContext(definedFields(context), part('finalizeOptions'));
}

/** The source of a command, as a context names it. */
function sourceOf(kind: unknown): string | undefined {
  if (kind === 'native') return 'native';
  return kind === 'text' || kind === 'text-slash' ? 'text' : undefined;
}

/** The texts that a message refers to, as far as the reader may see them: those of a sender who may not write can be hidden. */
function supplements(given: Fields, visibility: unknown): Fields {
  const shown = (name: string): Fields => {
    const item = fieldsOf(given[name]);
    const isOpen = visibility === undefined || visibility === 'all';
    const { senderAllowed } = item; // a sender of whom nobody has said it may not be shown
    const isQuote = name === 'quote' && visibility === 'allowlist_quote';
    return isOpen || senderAllowed === true || (isQuote && senderAllowed === false) ? item : {};
  };
  const [quote, thread] = [shown('quote'), shown('thread')];
  return definedFields({
    ...{ ReplyToId: quote['id'], ReplyToIdFull: quote['fullId'] },
    ...{ ReplyToBody: quote['body'], ReplyToSender: quote['sender'] },
    ...{ ThreadStarterBody: thread['starterBody'], ThreadHistoryBody: thread['historyBody'] },
    ThreadLabel: thread['label'],
    GroupSystemPrompt: given['groupSystemPrompt'],
  });
}

/** The files of a message in the fields that a context has for them. */
export function filesOf(media: unknown): Fields {
  const files = listOf(media);
  if (files.length === 0) return {};
  return {
    MediaPaths: files.map(({ path }) => path),
    MediaUrls: files.map(({ url, path }) => url ?? path),
    MediaTypes: files.map(({ contentType, kind }) => contentType ?? kind),
  };
}
