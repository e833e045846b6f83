import { randomUUID } from 'node:crypto';
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
  /** The language that the client has asked for. */
  locale: z.string().min(1).optional(),
  /** A key or a signature has proven the sender. */
  isProven: z.boolean(),
  /** The sender may give commands. */
  mayCommand: z.boolean(),
  text: z.string(),
  images: z.array(z.string()).default([]),
  agent: z.string().min(1).optional(),
});

/** The press of a button of an answer, as the journal keeps it. */
const press = z.strictObject({
  kind: z.literal('press'),
  conversationId: z.string().min(1),
  interactionId: z.string().min(1),
  senderId: z.string().min(1),
  locale: z.string().min(1).optional(),
  isProven: z.boolean(),
  button: z.string().min(1),
});

const unreadableUpdate = z.strictObject({
  kind: z.literal('unreadable'),
  problem: z.string(),
  path: z.string(),
  /** The beginning of the body, for whoever looks for the reason. */
  begins: z.string(),
});

const update = z.union([message, press, unreadableUpdate]);

/** A message, before it is decoded. */
export type HttpUpdate = z.input<typeof message>;

/** A press, before it is decoded. */
export type HttpPress = z.infer<typeof press>;

/** A body that could not be read: the journal keeps that it came. */
export type UnreadableUpdate = z.infer<typeof unreadableUpdate>;

/** Makes an update of a body that cannot be read. */
export function unreadable(
  body: string,
  issue?: { readonly message: string; readonly path: readonly PropertyKey[] },
): UnreadableUpdate {
  const { message: problem = 'it is no request', path = [] } = issue ?? {};
  const place = path.map((step) => `/${String(step)}`).join('');
  return { kind: 'unreadable', problem, path: place, begins: body.slice(0, 1_000) };
}

/** The id of an update whose client has given none. */
export function newUpdateId(): string {
  return `req-${randomUUID()}`;
}

/** Makes a message of an update. Never throws. */
export function decodeUpdate(raw: unknown, accountId: string): DecodedIngress {
  const { data } = update.safeParse(raw);
  if (data === undefined)
    return { kind: 'undecodable', problem: 'it is no update of this channel' };
  if (data.kind === 'unreadable') {
    const { problem, path } = data;
    return { kind: 'undecodable', problem, ...(path !== '' && { path }) };
  }
  if (data.kind === 'press') return decodePress(data, accountId);
  const { conversationId, messageId, isProven, mayCommand, agent, text, images } = data;
  if (text.trim() === '' && images.length === 0)
    return { kind: 'undecodable', problem: 'the message is empty' };
  return {
    kind: 'message',
    ...(isProven && { senderProof: 'account' as const }),
    ...(agent !== undefined && { route: { agentId: agent } }),
    message: {
      ...{ channel: 'http', accountId, provider: 'http', surface: 'http' },
      ...{ from: conversationId, conversationId, originatingTo: data.answerTo, messageId },
      ...{ sender: senderOf(data), isGroup: false, content: text, metadata: {} },
      attachments: images.map((url) => ({ kind: 'image' as const, url })),
      commandAuthorized: mayCommand, // of each text: the host may read it as a command
    },
  };
}

function senderOf({ senderId: id, locale }: Pick<HttpPress, 'senderId' | 'locale'>) {
  return { id, ...(locale !== undefined && { locale }) };
}

function decodePress(press: HttpPress, accountId: string): DecodedIngress {
  const { interactionId, button, conversationId, isProven } = press;
  return {
    kind: 'interaction',
    ...(isProven && { senderProof: 'account' as const }),
    interaction: {
      ...{ interactionId, kind: 'button' as const, name: button, values: [] },
      ...{ channel: 'http', accountId, conversationId, isGroup: false, sender: senderOf(press) },
    },
  };
}
