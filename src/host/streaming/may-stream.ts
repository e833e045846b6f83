import { previewObstacles } from '../../kernel/index.js';
import type { OutgoingMessage } from '../egress/prepare-send.js';
import type { SendParts } from '../parts/parts.js';

/** Tells whether a reply may be shown while it grows: its channel can, and no handler has to see the whole first (spec §14.7). */
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
  return isAble && isPreviewOk(parts);
}

/** Tells whether parts of a text may be shown before any handler sees the whole. */
export function isPreviewOk({ kernel }: SendParts): boolean {
  return previewObstacles(kernel.plan('egress.preparing')).length === 0;
}
