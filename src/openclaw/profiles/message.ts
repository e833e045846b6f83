import { cancel, definedFields, type PayloadOf } from 'sluice-kernel/internal';
import { messageHooks } from '../hooks/message.js';
import { type Answer, type HookPart, isGiven, lastGiven } from '../hooks/row.js';
import { fieldsOf, hostedHook, merged } from './merging.js';
import type { LegacyReplyPayload, LegacyTurnMessageContext } from './shapes.js';

type Read = NonNullable<HookPart['read']>;

const { message_sending: before } = messageHooks;

const isCancel = (answer: unknown): string | undefined =>
  fieldsOf(answer)['cancel'] === true ? 'cancel=true' : undefined;

/** The cancel of an answer that says so; its reason is the last that any handler gave. */
const cancelOf =
  (hook: string, field: string): Read =>
  ({ value }, at) => {
    if (value['cancel'] !== true) return undefined;
    const reason = lastGiven([...at.earlier(), value], field);
    return cancel('policy', {
      text: typeof reason === 'string' ? reason : `a ${hook} handler cancelled it`,
    });
  };

/** A mutator and a veto of each send, over one call of a handler. */
const sendingParts = (change: Read, veto: Read) =>
  [
    { family: 'egress.preparing', class: 'mutator', read: change },
    { family: 'egress.preparing', class: 'veto', read: veto },
  ] as const;

const readSending = ({ value: { content, metadata } }: Answer) =>
  isGiven(content) || isGiven(metadata)
    ? definedFields({ content: content ?? undefined, metadata: metadata ?? undefined })
    : undefined;

/** The text that a handler of a reply makes. */
const readPayload = ({ value: { payload } }: Answer) => {
  const { text } = fieldsOf(payload);
  return isGiven(text) ? { content: text } : undefined;
};

/** The hooks of messages that go out, as profile 2026.9 has them. */
export const messageHooks9 = {
  message_received: messageHooks.message_received,
  message_sending: {
    ...before,
    parts: sendingParts(readSending, cancelOf('message_sending', 'cancelReason')),
    merge: 'content, metadata and cancelReason: the last; cancel: true ends the stage',
    instead: '{ content, metadata }',
    timeoutMs: 15_000,
    ends: isCancel,
    result: (ending) => {
      const { outcomes, answers, canonicalWrites } = ending;
      const payload = outcomes[0].payload as PayloadOf<'egress.preparing'>;
      const isRewritten =
        canonicalWrites.includes('content') || isGiven(lastGiven(answers, 'content'));
      return merged(ending, {
        content: isRewritten ? payload.content : undefined,
        cancel: outcomes[0].status === 'passed' ? undefined : true,
        cancelReason: lastGiven(answers, 'cancelReason'),
        metadata: lastGiven(answers, 'metadata'),
      });
    },
  } satisfies typeof before,
  reply_payload_sending: hostedHook<
    {
      payload: LegacyReplyPayload;
      kind: string;
      channel?: string;
      sessionKey?: string;
      runId?: string;
    },
    LegacyTurnMessageContext,
    { payload?: LegacyReplyPayload; cancel?: boolean; reason?: string }
  >()({
    kind: 'modifying',
    parts: sendingParts(readPayload, cancelOf('reply_payload_sending', 'reason')),
    why: 'The moment of message_sending. Each handler sees the text that the one before it left; the text of the last is sent. Files are seen, and cannot be changed.',
    merge:
      'payload: its text is chained, each gets what the one before it left; cancel: true ends it',
    instead: '{ payload }',
    chains: ({ content: text }, event) => ({
      payload: structuredClone({ ...(event as { readonly payload: object }).payload, text }), // as view makes it
    }),
    timeoutMs: 15_000,
    ends: isCancel,
    wants: ({ payload }) => replyKinds.has((payload as PayloadOf<'egress.preparing'>).kind),
    view: ({ payload }) => {
      const sending = payload as PayloadOf<'egress.preparing'>; // the family of its parts
      const { content: text, attachments, kind, channel = '', ...rest } = sending;
      const mediaUrls = attachments.flatMap(({ url }) => (url === undefined ? [] : [url]));
      const { accountId, conversationId, sessionKey, runId, replyToId } = rest;
      const ids = definedFields({ sessionKey, runId });
      return {
        event: {
          payload: { text, ...(mediaUrls.length > 0 && { mediaUrls }) },
          kind: replyKinds.get(kind),
          channel,
          ...ids,
        },
        ctx: {
          channelId: channel,
          ...definedFields({ accountId, conversationId, replyToId }),
          ...ids,
        },
      };
    },
  }),
  message_sent: messageHooks.message_sent,
};

/** The kinds of a reply, in the words of the hook. */
const replyKinds = new Map<string, 'tool' | 'block' | 'final'>([
  ['reply', 'final'],
  ['stream-final', 'final'],
  ['block', 'block'],
  ['tool-output', 'tool'],
]);
