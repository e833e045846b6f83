import { cancel, definedFields, type PayloadOf } from '../../kernel/index.js';
import { knownAmount } from '../facts/known.js';
import { modifyingHook, voidHook } from './make-row.js';
import { anyGives, extrasOf, type Fields, isGiven, lastGiven } from './row.js';
import { payloadOf, writable } from './run-context.js';
import type { LegacyMessageContext } from './shapes.js';

/** The metadata of a received message that has a field of its own in the payload. */
const receivedFields = [
  'to',
  'provider',
  'surface',
  'originatingChannel',
  'originatingTo',
  'threadId',
  'messageId',
  'senderId',
  'senderName',
  'senderUsername',
  'senderE164',
  'guildId',
  'channelName',
] as const;

type ReceivedFields = Partial<Record<(typeof receivedFields)[number], string>>;

/** Those of them that are texts, or numbers in place of texts: what is anything else stays in the metadata. */
function receivedOf(metadata: Fields): ReceivedFields {
  const received: ReceivedFields = {};
  for (const name of receivedFields) {
    const value = metadata[name];
    if (typeof value === 'string' || typeof value === 'number') received[name] = String(value);
  }
  return received;
}

const ref = (channel: string, id: unknown) =>
  isGiven(id) ? { channel, id: String(id) } : undefined;

/** The refs of an envelope, of a legacy message context. */
function refsOf(ctx: LegacyMessageContext, threadId?: unknown, messageId?: unknown) {
  const { channelId } = ctx;
  return definedFields({
    accountRef: ref(channelId, ctx.accountId),
    conversationRef: ref(channelId, ctx.conversationId),
    threadRef: ref(channelId, threadId),
    messageRef: ref(channelId, messageId),
  });
}

/** A legacy message context, of a payload that names its place. */
function messageContextOf(payload: {
  readonly channel?: string;
  readonly accountId?: string;
  readonly conversationId?: string;
}): LegacyMessageContext {
  const { channel = '', accountId, conversationId } = payload;
  return { channelId: channel, ...definedFields({ accountId, conversationId }) };
}

/**
 * The names under which plugins of the Slack path look for a thread and its channel. No shipped source of profile
 * 2026.3 sets them, so that such plugins were inert; the bridge does.
 */
function threadNames(threadId: unknown, channelId: string | undefined): Fields {
  if (!isGiven(threadId)) return {};
  return { threadTs: String(threadId), ...definedFields({ channelId }) };
}

function without(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !names.includes(key)));
}

const outbound = (ctx: LegacyMessageContext, event: { to: string; content: string }) => ({
  channel: ctx.channelId,
  ...definedFields({ accountId: ctx.accountId, conversationId: ctx.conversationId }),
  to: event.to,
  kind: 'reply' as const,
  streaming: false,
  content: event.content,
});

/** The hooks of messages that come in and go out. */
export const messageHooks = {
  message_received: voidHook<
    { from: string; content: string; timestamp?: number; metadata?: Record<string, unknown> },
    LegacyMessageContext
  >({
    parts: [{ family: 'ingress.normalized', class: 'observer' }],
    why: 'The first moment at which a message is known by its fields. The internal key message:received tells of the same fact: it becomes one event. A thread is also given as threadTs and channelId, which plugins of the Slack path read.',
    announce: (event, ctx) => {
      const metadata: Fields = event.metadata ?? {};
      const received = receivedOf(metadata);
      const { to, provider, surface, messageId, guildId, channelName } = received;
      const { originatingChannel, originatingTo } = received;
      const place = { to, provider, surface, originatingChannel, originatingTo };
      const threadId = received.threadId === undefined ? undefined : metadata.threadId;
      const sender = definedFields({
        id: received.senderId,
        name: received.senderName,
        username: received.senderUsername,
        e164: received.senderE164,
      });
      const payload = {
        channel: ctx.channelId,
        from: event.from,
        content: event.content,
        attachments: [],
        ...definedFields({ ...place, threadId, messageId, guildId, channelName }),
        ...definedFields({ accountId: ctx.accountId, conversationId: ctx.conversationId }),
        ...definedFields({ sentAtMs: knownAmount(event.timestamp) }),
        ...(Object.keys(sender).length > 0 && { sender }),
        metadata: without(metadata, Object.keys(received)),
      };
      const given = refsOf(ctx, threadId, messageId);
      return [{ family: 'ingress.normalized', payload, given }];
    },
    view: (envelope) => {
      const payload = payloadOf<PayloadOf<'ingress.normalized'>>(envelope);
      const { from, content, sentAtMs, sender, threadId, conversationId } = payload;
      const { to, provider, surface, originatingChannel, originatingTo } = payload;
      const { messageId, guildId, channelName } = payload;
      const metadata = {
        ...definedFields({ to, provider, surface, originatingChannel, originatingTo, threadId }),
        ...definedFields({ messageId, guildId, channelName }),
        ...definedFields({
          senderId: sender?.id,
          senderName: sender?.name,
          senderUsername: sender?.username,
          senderE164: sender?.e164,
        }),
        ...threadNames(threadId, conversationId),
        ...writable(payload.metadata),
      };
      return {
        event: { from, content, ...definedFields({ timestamp: sentAtMs }), metadata },
        ctx: messageContextOf(payload),
      };
    },
  }),
  message_sending: modifyingHook<
    { to: string; content: string; metadata?: Record<string, unknown> },
    LegacyMessageContext,
    { content?: string; cancel?: boolean }
  >({
    parts: [
      {
        family: 'egress.preparing',
        class: 'mutator',
        read: ({ value }) => (isGiven(value.content) ? { content: value.content } : undefined),
      },
      {
        family: 'egress.preparing',
        class: 'veto',
        read: ({ value }) =>
          value.cancel
            ? cancel('policy', { text: 'a message_sending handler cancelled it' })
            : undefined,
      },
    ],
    coverage: ['mutate', 'veto'],
    why: 'One handler that may change and cancel: a mutator and a veto over a single call of it. The legacy hook ran on two of the send paths; the stage is on all of them, streamed replies among them.',
    merge: 'content: the last; cancel: ends the stage',
    instead: '{ content }',
    announce: (event, ctx) => {
      const { threadId, mediaUrls } = (event.metadata ?? {}) as Fields;
      const { channelId: channel, accountId } = ctx;
      const urls = Array.isArray(mediaUrls) ? mediaUrls : [];
      const payload = {
        ...outbound(ctx, event),
        ...(typeof threadId === 'string' || typeof threadId === 'number' ? { threadId } : {}),
        attachments: urls.map((url) => ({ kind: 'other', url: String(url) })),
        metadata: { ...event.metadata },
        explicit: true, // the legacy caller has chosen its channel and account
        accounts: accountId === undefined ? [] : [{ channel, accountId }],
      };
      return [{ family: 'egress.preparing', payload, given: refsOf(ctx, threadId) }];
    },
    view: (envelope) => {
      const payload = payloadOf<PayloadOf<'egress.preparing'>>(envelope);
      const { to, content, channel, accountId, threadId, conversationId, attachments } = payload;
      const mediaUrls = attachments.flatMap(({ url }) => (url === undefined ? [] : [url]));
      const metadata = {
        ...definedFields({ channel, accountId, threadId }),
        ...(mediaUrls.length > 0 && { mediaUrls }),
        ...threadNames(threadId, conversationId ?? to),
        ...writable(payload.metadata),
      };
      return { event: { to, content, metadata }, ctx: messageContextOf(payload) };
    },
    result: ({ outcomes: [outcome], answers, canonicalWrites }) => {
      const isKept = outcome.status !== 'passed';
      const changed = anyGives(answers, 'content') || canonicalWrites.includes('content');
      const said = lastGiven(answers, 'cancel');
      if (answers.length === 0 && !changed && !isKept) return undefined;
      return {
        ...extrasOf(answers, ['content', 'cancel']),
        ...(changed && { content: (outcome.payload as PayloadOf<'egress.preparing'>).content }),
        ...(isKept ? { cancel: said || true } : isGiven(said) && { cancel: said && false }),
      };
    },
  }),
  message_sent: voidHook<
    { to: string; content: string; success: boolean; error?: string },
    LegacyMessageContext
  >({
    parts: [
      { family: 'egress.sent', class: 'observer' },
      { family: 'egress.failed', class: 'observer' },
    ],
    why: 'success decides the family. The internal key message:sent tells of the same fact: it becomes one event.',
    announce: (event, ctx) => {
      const sent = { ...outbound(ctx, event), attachments: [], metadata: {} };
      const given = refsOf(ctx);
      if (event.success)
        return [{ family: 'egress.sent', payload: { ...sent, receipt: {} }, given }];
      const payload = { ...sent, error: event.error ?? 'the sender did not say why' };
      return [{ family: 'egress.failed', payload, given }];
    },
    view: (envelope) => {
      const payload = payloadOf<PayloadOf<'egress.sent'> | PayloadOf<'egress.failed'>>(envelope);
      const { to, content } = payload;
      const failed = 'error' in payload ? { error: payload.error } : {};
      return {
        event: { to, content, success: envelope.family === 'egress.sent', ...failed },
        ctx: messageContextOf(payload),
      };
    },
  }),
};
