import { definedFields, type PayloadOf } from 'sluice-kernel/internal';
import { payloadFields, recordOf, same } from '../facts/field-table.js';
import type { Announcement } from '../facts/legacy-bus.js';
import { messageFields, sentFields } from '../facts/message-fields.js';
import { refsOf } from '../facts/refs.js';
import type { InternalHookEvent } from './event.js';
import { type ContextTable, hookRow, type InternalHookContent, sessionKeyOf, sink } from './row.js';

type Message = PayloadOf<'routing.resolved'>['message'];
type Sent = PayloadOf<'egress.sent'> | PayloadOf<'egress.failed'>;

const receivedTable: ContextTable<Message> = {
  ...same('from', 'content', 'accountId', 'conversationId', 'messageId'),
  timestamp: 'sentAtMs',
  channelId: 'channel',
  metadata: { show: (message) => ({ ...message.metadata, ...recordOf(messageFields, message) }) },
};

function receivedSteps(event: InternalHookEvent): Announcement[] {
  const { context } = event;
  const told = typeof context.metadata === 'object' && context.metadata !== null;
  const metadata = (told ? context.metadata : {}) as Record<string, unknown>; // each field is checked with the payload
  const others = Object.entries(metadata).filter(([name]) => !Object.hasOwn(messageFields, name));
  const payload = {
    ...payloadFields(receivedTable, context),
    ...payloadFields(messageFields, metadata),
    ...sessionKeyOf(event),
    attachments: [],
    metadata: definedFields(Object.fromEntries(others)),
  };
  return [{ family: 'ingress.normalized', payload, given: withoutThread(payload) }];
}

/** The bus has never named the thread in the envelope. */
function withoutThread(payload: Record<string, unknown>) {
  return refsOf({ ...payload, threadId: undefined });
}

const { senderId, senderName, senderUsername } = messageFields;

/** The context of the two keys after media processing: the message as the ingress stages have left it. */
const processedTable: ContextTable<Message> = {
  ...same('from', 'to', 'body', 'conversationId', 'messageId', 'provider', 'surface', 'transcript'),
  ...{ senderId, senderName, senderUsername },
  bodyForAgent: 'promptText',
  timestamp: 'sentAtMs',
  channelId: 'channel',
  mediaPath: { show: ({ attachments: [media] }) => media?.path },
  mediaType: { show: ({ attachments: [media] }) => media?.mimeType },
  cfg: { show: () => undefined },
};

const processed = (
  { message, sessionKey }: PayloadOf<'routing.resolved'>,
  table = processedTable,
): InternalHookContent => ({
  sessionKey: sessionKey ?? message.sessionKey ?? '',
  context: recordOf(table, message),
});

const sentTable: ContextTable<Sent> = {
  ...same('to', 'content', 'accountId'),
  success: { show: (payload) => !('error' in payload) },
  channelId: { to: 'channel', show: ({ channel }) => channel ?? '' },
  conversationId: { to: 'conversationId', show: ({ conversationId, to }) => conversationId ?? to },
  messageId: { show: ({ receipt }) => receipt?.messageId },
};

const groupTable = same('isGroup', 'groupId');

function sentSteps(event: InternalHookEvent): Announcement[] {
  const { success, error, conversationId, messageId } = event.context;
  const outbound = {
    ...sentFields,
    ...payloadFields<Record<string, unknown>>({ ...sentTable, ...groupTable }, event.context),
    ...sessionKeyOf(event),
    receipt: definedFields({ messageId, conversationId }),
  };
  const given = withoutThread({ ...outbound, messageId });
  if (success === true) return [{ family: 'egress.sent', payload: outbound, given }];
  return [{ family: 'egress.failed', payload: { ...outbound, error: error ?? 'unknown' }, given }];
}

const sentContent = (payload: Sent): InternalHookContent => ({
  sessionKey: payload.sessionKey ?? '',
  context: {
    ...recordOf(sentTable, payload),
    ...('error' in payload && { error: payload.error }),
    ...definedFields(recordOf<Record<string, unknown>>(groupTable, payload)),
  },
});

const enrichment =
  'Not dispatched: it tells more of a message that ingress.normalized was dispatched for already. A host of this project tells it where a message is routed, since by then its ingress stages have made it whole.';

/** The keys of messages. The legacy callers wait for none of them. */
export const messageRows = [
  hookRow({
    type: 'message',
    action: 'received',
    awaited: false,
    source: receivedSteps,
    sinks: [
      sink('ingress.normalized', 'observer', (message) => ({
        sessionKey: message.sessionKey ?? '',
        context: recordOf(receivedTable, message),
      })),
    ],
    why: 'The same message as the plugin hook message_received: one canonical event.',
  }),
  hookRow({
    type: 'message',
    action: 'transcribed',
    awaited: false,
    sinks: [
      sink('routing.resolved', 'observer', (payload) =>
        payload.message.transcript === undefined ? undefined : processed(payload),
      ),
    ],
    status: 'observe-only',
    why: enrichment,
  }),
  hookRow({
    type: 'message',
    action: 'preprocessed',
    awaited: false,
    sinks: [
      sink('routing.resolved', 'observer', (payload) =>
        processed(payload, { ...processedTable, ...groupTable }),
      ),
    ],
    status: 'observe-only',
    why: enrichment,
  }),
  hookRow({
    type: 'message',
    action: 'sent',
    awaited: false,
    source: sentSteps,
    sinks: [
      sink('egress.sent', 'observer', sentContent),
      sink('egress.failed', 'observer', sentContent),
    ],
    why: 'The same message as the plugin hook message_sent: one canonical event. What could not be sent is egress.failed.',
  }),
];
