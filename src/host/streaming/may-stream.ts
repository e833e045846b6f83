import { previewObstacles } from 'sluice-kernel';
import type { OutgoingMessage } from '../egress/prepare-send.js';
import type { SendParts } from '../parts/parts.js';

/** Returns whether a reply may be shown while it grows: its channel can, and no handler has to see the whole first (spec §14.7). */
export function mayStream(parts: SendParts, message: Omit<OutgoingMessage, 'content'>): boolean {
  const { channel = '', accountId } = message;
  const isAble = parts.accounts
    .all()
    .some(
      (account) =>
        account.channel.id === channel &&
        (accountId === undefined || account.accountId === accountId) &&
        account.channel.capabilities.canStreamResponse === true &&
        account.channel.createStreamSender !== undefined,
    );
  return isAble && isPreviewOk(parts, message);
}

/**
 * Returns whether parts of a text may be shown before any handler sees the whole. A handler whose match no send of the text can meet is
 * not asked (judgement §2.8).
 */
export function isPreviewOk(
  { kernel }: SendParts,
  message: Omit<OutgoingMessage, 'content'>,
): boolean {
  const { kind } = message;
  const known: Readonly<Record<string, unknown>> = message;
  const possible = (key: string): readonly unknown[] | undefined => {
    if (key === 'kind') return grownKinds.includes(kind) ? grownKinds : [kind];
    return placeFields.includes(key) && known[key] !== undefined ? [known[key]] : undefined;
  };
  return previewObstacles(kernel.plan('egress.preparing'), possible).length === 0;
}

/** The kinds of the sends of a text that grows; it goes out whole as one of them if it may not grow. */
const grownKinds: readonly OutgoingMessage['kind'][] = [
  'reply',
  'block',
  'stream-opening',
  'stream-final',
];

/** The fields that all sends of a text have in common. */
const placeFields = ['channel', 'accountId', 'to', 'conversationId', 'threadId', 'agentId'];
