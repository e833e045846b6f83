import { cancel, definedFields, type Fields, type PayloadOf } from 'sluice-kernel/internal';
import { definedRecordOf, type FieldTable, payloadFields, same } from '../facts/field-table.js';
import { measured } from '../facts/known.js';
import { messageFields, sentFields } from '../facts/message-fields.js';
import { modifyingHook, voidHook, waysOf } from './make-row.js';
import { anyGives, extrasOf, isGiven, lastGiven } from './row.js';
import { writable } from './run-context.js';
import type { LegacyMessageContext } from './shapes.js';

/** The metadata of a received message that has a field of its own in the payload. */
const receivedFields = {
  ...messageFields,
  ...same('originatingChannel', 'originatingTo', 'messageId'),
};

/** Those of them that are texts, or numbers in place of texts: what is anything else stays in the metadata. */
function receivedOf(metadata: Fields): Record<string, unknown> {
  const received: Record<string, unknown> = {};
  for (const name of Object.keys(receivedFields)) {
    const value = metadata[name];
    if (typeof value === 'string' || typeof value === 'number')
      received[name] = name === 'threadId' ? value : String(value);
  }
  return received;
}

/** A legacy message context, over a payload that names its place. */
const messageContext: FieldTable<
  LegacyMessageContext,
  { channel?: string; accountId?: string; conversationId?: string }
> = {
  ...same('accountId', 'conversationId'),
  channelId: { to: 'channel', show: ({ channel = '' }) => channel },
};

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

type Sent = { to: string; content: string; success: boolean; error?: string };

const sentWays = waysOf('egress.sent')<Sent, LegacyMessageContext>({
  event: {
    ...same('to', 'content'),
    success: { show: () => true },
    error: { show: () => undefined },
  },
  context: messageContext,
  adds: () => ({ ...sentFields, receipt: {} }),
});

const failedWays = waysOf('egress.failed')<Sent, LegacyMessageContext>({
  event: { ...same('to', 'content', 'error'), success: { show: () => false } },
  context: messageContext,
  adds: () => ({ ...sentFields, error: 'the sender did not say why' }),
});

/** The hooks of messages that come in and go out. */
export const messageHooks = {
  message_received: voidHook('ingress.normalized')<
    { from: string; content: string; timestamp?: number; metadata?: Record<string, unknown> },
    LegacyMessageContext
  >({
    why: 'The first moment at which a message is known by its fields. The internal key message:received tells of the same fact: it becomes one event. A thread is also given as threadTs and channelId, which plugins of the Slack path read.',
    event: {
      ...same('from', 'content'),
      timestamp: measured('sentAtMs'),
      metadata: {
        show: (payload) => ({
          ...definedRecordOf(receivedFields, payload),
          ...threadNames(payload.threadId, payload.conversationId),
          ...writable(payload.metadata),
        }),
      },
    },
    context: messageContext,
    adds: ({ metadata = {} }) => {
      const received = receivedOf(metadata);
      const fields = payloadFields(receivedFields, received);
      return { ...fields, attachments: [], metadata: without(metadata, Object.keys(received)) };
    },
  }),
  message_sending: modifyingHook('egress.preparing')<
    { to: string; content: string; metadata?: Record<string, unknown> },
    LegacyMessageContext,
    { content?: string; cancel?: boolean }
  >({
    parts: [
      {
        class: 'mutator',
        read: ({ value }) => (isGiven(value.content) ? { content: value.content } : undefined),
      },
      {
        class: 'veto',
        read: ({ value }) =>
          value.cancel
            ? cancel('policy', { text: 'a message_sending handler cancelled it' })
            : undefined,
      },
    ],
    why: 'One handler that may change and cancel: a mutator and a veto over a single call of it. The legacy hook ran on two of the send paths; the stage is on all of them, streamed replies among them.',
    merge: 'content: the last; cancel: ends the stage',
    instead: '{ content }',
    event: {
      ...same('to', 'content'),
      metadata: {
        show: ({ to, channel, accountId, threadId, conversationId, attachments, metadata }) => {
          const mediaUrls = attachments.flatMap(({ url }) => (url === undefined ? [] : [url]));
          return {
            ...definedFields({ channel, accountId, threadId }),
            ...(mediaUrls.length > 0 && { mediaUrls }),
            ...threadNames(threadId, conversationId ?? to),
            ...writable(metadata),
          };
        },
      },
    },
    context: messageContext,
    adds: ({ metadata = {} }, { channelId: channel, accountId }) => {
      const { threadId, mediaUrls } = metadata;
      const urls: unknown[] = Array.isArray(mediaUrls) ? mediaUrls : [];
      return {
        ...sentFields,
        ...(typeof threadId === 'string' || typeof threadId === 'number' ? { threadId } : {}),
        attachments: urls.map((url) => ({ kind: 'other', url: String(url) })),
        metadata: { ...metadata },
        explicit: true, // the legacy caller has chosen its channel and account
        accounts: accountId === undefined ? [] : [{ channel, accountId }],
      };
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
  message_sent: voidHook('egress.sent')<Sent, LegacyMessageContext>({
    parts: [{ class: 'observer' }, { class: 'observer', family: 'egress.failed' }],
    why: 'success decides the family. The internal key message:sent tells of the same fact: it becomes one event.',
    announce: (event, ctx) => (event.success ? sentWays : failedWays).announce(event, ctx),
    view: (envelope) => (envelope.family === 'egress.sent' ? sentWays : failedWays).view(envelope),
  }),
};
