import { definedFields, type PayloadOf } from '../../kernel/index.js';
import type { InternalHookEvent } from './event.js';
import { type InternalHookContent, type InternalHookRow, type SourceStep, sink } from './row.js';

type Message = PayloadOf<'routing.resolved'>['message'];

function refs(
  channel: unknown,
  ids: { account: unknown; conversation: unknown; message: unknown },
) {
  const ref = (id: unknown) =>
    typeof channel === 'string' && typeof id === 'string' ? { channel, id } : null;
  return {
    accountRef: ref(ids.account),
    conversationRef: ref(ids.conversation),
    messageRef: ref(ids.message),
  };
}

function receivedSteps({ sessionKey, context }: InternalHookEvent): SourceStep[] {
  const { from, content, timestamp, channelId, accountId, conversationId, messageId } = context;
  const told = typeof context.metadata === 'object' && context.metadata !== null;
  const { to, provider, surface, threadId, guildId, channelName, ...others } = (
    told ? context.metadata : {}
  ) as Record<string, unknown>; // an object, and each field is checked with the payload
  const { senderId, senderName, senderUsername, senderE164, ...metadata } = others;
  const sender = definedFields({
    id: senderId,
    name: senderName,
    username: senderUsername,
    e164: senderE164,
  });
  const payload = {
    ...definedFields({
      channel: channelId,
      accountId,
      provider,
      surface,
      from,
      to,
      conversationId,
    }),
    ...definedFields({ threadId, messageId, guildId, channelName, content, sentAtMs: timestamp }),
    ...(Object.keys(sender).length > 0 && { sender }),
    ...(sessionKey !== '' && { sessionKey }),
    attachments: [],
    metadata: definedFields(metadata),
  };
  const given = refs(channelId, {
    account: accountId,
    conversation: conversationId,
    message: messageId,
  });
  return [{ family: 'ingress.normalized', payload, given }];
}

function receivedContent(message: Message): InternalHookContent {
  const { from, content, accountId, conversationId, messageId, sender } = message;
  const { to, provider, surface, threadId, guildId, channelName } = message;
  return {
    sessionKey: message.sessionKey ?? '',
    context: {
      from,
      content,
      timestamp: message.sentAtMs,
      channelId: message.channel,
      accountId,
      conversationId,
      messageId,
      metadata: {
        ...message.metadata,
        to,
        provider,
        surface,
        threadId,
        senderId: sender?.id,
        senderName: sender?.name,
        senderUsername: sender?.username,
        senderE164: sender?.e164,
        guildId,
        channelName,
      },
    },
  };
}

/** The content of the two keys after media processing: the message as the ingress stages have left it. */
function processed({ message, sessionKey }: PayloadOf<'routing.resolved'>): InternalHookContent {
  const { from, to, body, conversationId, messageId, sender, provider, surface } = message;
  const [media] = message.attachments;
  return {
    sessionKey: sessionKey ?? message.sessionKey ?? '',
    context: {
      from,
      to,
      body,
      bodyForAgent: message.promptText,
      timestamp: message.sentAtMs,
      channelId: message.channel,
      conversationId,
      messageId,
      senderId: sender?.id,
      senderName: sender?.name,
      senderUsername: sender?.username,
      provider,
      surface,
      mediaPath: media?.path,
      mediaType: media?.mimeType,
      transcript: message.transcript,
      cfg: undefined,
    },
  };
}

function sentSteps({ sessionKey, context }: InternalHookEvent): SourceStep[] {
  const { to, content, success, error, channelId, accountId, conversationId, messageId } = context;
  const { isGroup, groupId } = context;
  const outbound = {
    ...definedFields({
      channel: channelId,
      accountId,
      to,
      conversationId,
      isGroup,
      groupId,
      content,
    }),
    ...(sessionKey !== '' && { sessionKey }),
    kind: 'reply', // the legacy event does not say what it was
    streaming: false,
    attachments: [],
    metadata: {},
  };
  const receipt = definedFields({ messageId, conversationId });
  const given = refs(channelId, {
    account: accountId,
    conversation: conversationId,
    message: messageId,
  });
  if (success === true)
    return [{ family: 'egress.sent', payload: { ...outbound, receipt }, given }];
  const payload = { ...outbound, error: error ?? 'unknown', receipt };
  return [{ family: 'egress.failed', payload, given }];
}

function sentContent(
  payload: PayloadOf<'egress.sent'> | PayloadOf<'egress.failed'>,
): InternalHookContent {
  const { to, content, channel, accountId, conversationId, isGroup, groupId, receipt } = payload;
  return {
    sessionKey: payload.sessionKey ?? '',
    context: {
      to,
      content,
      success: !('error' in payload),
      ...('error' in payload && { error: payload.error }),
      channelId: channel ?? '',
      accountId,
      conversationId: conversationId ?? to,
      messageId: receipt?.messageId,
      ...definedFields({ isGroup, groupId }),
    },
  };
}

const enrichment =
  'Not dispatched: it tells more of a message that ingress.normalized was dispatched for already. A host of this project tells it where a message is routed, since by then its ingress stages have made it whole.';

/** The keys of messages. The legacy callers wait for none of them. */
export const messageRows: readonly InternalHookRow[] = [
  {
    type: 'message',
    action: 'received',
    awaited: false,
    source: receivedSteps,
    sinks: [sink('ingress.normalized', 'observer', receivedContent)],
    coverage: 'observe',
    status: 'bridged',
    why: 'The same message as the plugin hook message_received: one canonical event.',
  },
  {
    type: 'message',
    action: 'transcribed',
    awaited: false,
    sinks: [
      sink('routing.resolved', 'observer', (payload) =>
        payload.message.transcript === undefined ? undefined : processed(payload),
      ),
    ],
    coverage: 'observe',
    status: 'observe-only',
    why: enrichment,
  },
  {
    type: 'message',
    action: 'preprocessed',
    awaited: false,
    sinks: [
      sink('routing.resolved', 'observer', (payload) => {
        const { sessionKey, context } = processed(payload);
        const { isGroup, groupId } = payload.message;
        return { sessionKey, context: { ...context, isGroup, groupId } };
      }),
    ],
    coverage: 'observe',
    status: 'observe-only',
    why: enrichment,
  },
  {
    type: 'message',
    action: 'sent',
    awaited: false,
    source: sentSteps,
    sinks: [
      sink('egress.sent', 'observer', sentContent),
      sink('egress.failed', 'observer', sentContent),
    ],
    coverage: 'observe',
    status: 'bridged',
    why: 'The same message as the plugin hook message_sent: one canonical event. What could not be sent is egress.failed.',
  },
];
