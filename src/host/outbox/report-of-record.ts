import type { SendRecord, SendReport } from '@sluice/journal';
import { definedFields, type PayloadOf } from 'sluice-kernel/internal';

/** A send of the journal as its message's end tells of it. */
export function reportOfRecord(record: SendRecord): SendReport {
  const { state, attempts, channel, accountId, providerMessageId, cause, reason } = record;
  const { content } = JSON.parse(record.body) as Pick<PayloadOf<'egress.preparing'>, 'content'>; // as it was written
  const [extensionId, contributionId] = reason?.split('/') ?? [];
  const by = extensionId !== undefined && contributionId !== undefined;
  return {
    status: state === 'sent' || state === 'cancelled' ? state : 'failed',
    content,
    attempts,
    ...definedFields({ channel, accountId }),
    ...(state === 'sent' && {
      receipt: providerMessageId === undefined ? {} : { messageId: providerMessageId },
    }),
    ...(state === 'cancelled' && {
      cancel: { code: cause ?? 'cancelled', ...(by && { extensionId, contributionId }) },
    }),
    ...(state === 'failed' && { error: reason ?? cause ?? 'it was not sent' }),
    indexKeys: [],
  };
}
