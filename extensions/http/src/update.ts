import type { DecodedIngress } from 'sluice/channel';
import { z } from 'zod';

/** A message as the journal keeps it: what is said, and nothing else of its request. */
const message = z.strictObject({
  kind: z.literal('message'),
  conversationId: z.string().min(1),
  /** The address of its answer: its conversation, and after the last `#` its own id. */
  answerTo: z.string().min(1),
  messageId: z.string().min(1),
  senderId: z.string().min(1),
  /** A key or a signature has proven the sender. */
  isProven: z.boolean(),
  /** The sender may give commands. */
  mayCommand: z.boolean(),
  text: z.string(),
  images: z.array(z.string()).default([]),
  agent: z.string().min(1).optional(),
});

const update = z.union([
  message,
  z.strictObject({
    kind: z.literal('unreadable'),
    problem: z.string(),
    path: z.string().optional(),
    /** The beginning of the body, for whoever looks for the reason. */
    begins: z.string(),
  }),
]);

/** An update of this channel, before it is decoded. */
export type HttpUpdate = z.input<typeof update>;

/** Makes a message of an update. Never throws. */
export function decodeUpdate(raw: unknown, accountId: string): DecodedIngress {
  const { data } = update.safeParse(raw);
  if (data === undefined)
    return { kind: 'undecodable', problem: 'it is no update of this channel' };
  if (data.kind === 'unreadable') {
    const { problem, path } = data;
    return { kind: 'undecodable', problem, ...(path !== undefined && { path }) };
  }
  const { conversationId, answerTo, messageId, senderId, isProven, mayCommand, agent } = data;
  const { text, images } = data;
  if (text.trim() === '' && images.length === 0)
    return { kind: 'undecodable', problem: 'the message is empty' };
  return {
    kind: 'message',
    ...(isProven && { senderProof: 'account' as const }),
    ...(agent !== undefined && { route: { agentId: agent } }),
    message: {
      ...{ channel: 'http', accountId, provider: 'http', surface: 'http' },
      ...{ from: conversationId, conversationId, originatingTo: answerTo, messageId },
      ...{ sender: { id: senderId }, isGroup: false, content: text, metadata: {} },
      attachments: images.map((url) => ({ kind: 'image' as const, url })),
      ...(text.startsWith('/') && {
        commandSource: 'text' as const,
        commandAuthorized: mayCommand,
      }),
    },
  };
}
