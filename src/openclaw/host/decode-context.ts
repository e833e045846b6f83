import type { DecodedIngress, ExplicitRoute, InboundMessage } from '@sluice/sdk/channel';
import { definedFields, type Fields, isFields } from 'sluice-kernel/internal';
import { defaultAgentOf } from '../plugin/channel/routing.js';
import { listOf, textOf } from '../plugin/channel/settings.js';

/** Channels whose providers do not know who writes: anybody may take a name there. */
const unproven: readonly string[] = ['irc'];

/** The fields of a context that no field of a message has. They are in its metadata, under the same names. */
const besides = [
  ...['ChatType', 'ConversationLabel', 'GroupSubject', 'GroupSystemPrompt', 'ThreadLabel'],
  ...[
    'ThreadStarterBody',
    'ThreadHistoryBody',
    'InboundHistory',
    'UntrustedContext',
    'GroupMembers',
  ],
];

/**
 * Makes a message of the context that a plugin's channel has handed over, as it is or as a journal has kept it (spec §17.19).
 *
 * @param config the OpenClaw configuration: its bindings may send the message to another agent.
 */
export function decodeContext(
  channel: string,
  accountId: string,
  raw: unknown,
  config: Fields,
): DecodedIngress {
  if (!isFields(raw)) return { kind: 'undecodable', problem: 'it is no context of a message' };
  const text = (name: string): string | undefined => textOf(raw[name]);
  const written = (name: string): string | undefined => {
    const value = raw[name];
    return typeof value === 'string' ? value : undefined;
  };
  const isGroup = ['group', 'channel'].includes(text('ChatType') ?? '');
  const from = text('From') ?? text('SenderId');
  const address = text('OriginatingTo') ?? (isGroup ? (text('To') ?? from) : from);
  const content =
    written('BodyForCommands') ?? written('CommandBody') ?? written('RawBody') ?? written('Body');
  if (from === undefined || address === undefined || content === undefined)
    return { kind: 'undecodable', problem: 'its context names no sender, no address or no text' };
  const attachments = filesOf(raw);
  if (content.trim() === '' && attachments.length === 0)
    return { kind: 'ignored', reason: 'it holds neither text nor files' };
  const sender = definedFields({
    ...{ id: text('SenderId'), name: text('SenderName'), username: text('SenderUsername') },
    e164: text('SenderE164'),
  });
  const replyId = text('ReplyToId');
  const source = raw['CommandSource'];
  const commandSource: InboundMessage['commandSource'] | undefined =
    source === 'native' || source === 'text' ? source : undefined;
  const body = written('Body');
  const promptText = written('BodyForAgent');
  const message: InboundMessage = {
    ...{ channel, accountId, from, content, attachments, conversationId: address },
    originatingTo: address,
    ...definedFields({
      to: text('To'),
      provider: text('Provider'),
      surface: text('Surface'),
      threadId: text('MessageThreadId'),
      messageId: text('MessageSid'),
      guildId: text('GroupSpace'),
      channelName: text('GroupChannel') ?? text('GroupSubject'),
      groupId: isGroup ? address : undefined,
      body: body === content ? undefined : body,
      promptText: promptText === content ? undefined : promptText,
      transcript: written('Transcript'),
      sentAtMs: timeOf(raw['Timestamp']),
      wasMentioned: flagOf(raw['WasMentioned']),
      commandAuthorized: flagOf(raw['CommandAuthorized']),
      commandSource,
      sessionKey: text('SessionKey'),
      targetSessionKey: text('CommandTargetSessionKey'),
      replyTo:
        replyId === undefined
          ? undefined
          : definedFields({
              ...{ messageId: replyId, from: text('ReplyToSender') },
              content: written('ReplyToBody'),
            }),
    }),
    isGroup,
    ...(Object.keys(sender).length > 0 && { sender }),
    metadata: definedFields(Object.fromEntries(besides.map((name) => [name, raw[name]]))),
  };
  const route = routeOf(raw, config);
  return {
    kind: 'message',
    message,
    ...definedFields({ route }),
    ...(!unproven.includes(channel) && { senderProof: 'account' as const }),
  };
}

/** The route that the bindings of the configuration give: only another agent than the default one is a route. */
function routeOf(raw: Fields, config: Fields): ExplicitRoute | undefined {
  const sessionKey = textOf(raw['SessionKey']);
  const agentId = /^agent:([^:]+):/.exec(sessionKey ?? '')?.[1];
  const bound = listOf(config['bindings']).map((one) => textOf(one['agentId'])?.toLowerCase());
  if (agentId === undefined || sessionKey === undefined || !bound.includes(agentId.toLowerCase()))
    return undefined;
  return agentId === defaultAgentOf(config) ? undefined : { agentId, sessionKey };
}

function filesOf(raw: Fields): InboundMessage['attachments'] {
  const list = (many: string, one: string): readonly (string | undefined)[] => {
    const listed: unknown = raw[many];
    return (Array.isArray(listed) ? listed : [raw[one]]).map(textOf);
  };
  const paths = list('MediaPaths', 'MediaPath');
  const urls = list('MediaUrls', 'MediaUrl');
  const types = list('MediaTypes', 'MediaType');
  return Array.from({ length: Math.max(paths.length, urls.length) }, (_, at) => {
    const [path, url, mimeType] = [paths[at], urls[at], types[at]];
    return { kind: kindOf(mimeType), ...definedFields({ path, url, mimeType }) };
  }).filter(({ path, url }) => path !== undefined || url !== undefined);
}

function kindOf(mimeType = ''): InboundMessage['attachments'][number]['kind'] {
  const kind = mimeType.split('/')[0];
  if (kind === 'image' || kind === 'audio' || kind === 'video') return kind;
  return mimeType === '' ? 'other' : 'document';
}

function timeOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined;
}

function flagOf(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}
