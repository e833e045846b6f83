import { previewObstacles } from '../../kernel/index.js';
import type { OutgoingMessage } from '../egress/prepare-send.js';
import type { SendParts } from '../parts/parts.js';

/** Tells whether a reply may be shown while it grows: its channel can, and nobody has to see the whole first (spec §14.7). */
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

/** Tells whether nobody has to see the whole of a text before parts of it are shown. */
export function isPreviewOk({ kernel }: SendParts): boolean {
  return previewObstacles(kernel.plan('egress.preparing')).length === 0;
}
