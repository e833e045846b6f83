import type { ApprovedMessage, DeliveryReceipt } from '@sluice/sdk/channel';
import { definedFields, isFields } from 'sluice-kernel/internal';
import { textOf } from '../plugin/channel/settings.js';
import type { LegacyPlugin } from '../plugin/shape/plugin.js';
import type { LegacyChannel, LegacyDelivery, LegacySendContext } from '../plugin/shape/shapes.js';

interface Part {
  readonly verb: 'sendText' | 'sendMedia' | 'sendPayload';
  readonly context: LegacySendContext;
}

/** Makes the calls of a channel for one message, as OpenClaw calls it: in pieces, or file by file. */
export function partsOf(
  { config, logger }: LegacyPlugin,
  { id, outbound = {} }: LegacyChannel,
  message: ApprovedMessage,
  replyToId: string | undefined,
): readonly Part[] {
  const { content, attachments, metadata } = message;
  const base = baseOf(config, message, targetOf(config, outbound, message), replyToId);
  const urls = attachments.flatMap(({ url, path }) => url ?? path ?? []);
  const channelData = metadata['channelData'] as Readonly<Record<string, unknown>> | undefined; // as legacy-command writes it
  if (
    outbound.sendPayload !== undefined &&
    (channelData !== undefined || outbound.sendText === undefined)
  ) {
    const payload = {
      text: content,
      mediaUrls: urls,
      ...definedFields({ channelData }),
    };
    return [{ verb: 'sendPayload', context: { ...base, text: content, payload } }];
  }
  if (urls.length > 0 && outbound.sendMedia !== undefined)
    return urls.map((mediaUrl, at) => ({
      verb: 'sendMedia',
      context: { ...base, text: at === 0 ? content : '', mediaUrl },
    }));
  if (urls.length > 0) logger.warn(`channel "${id}" cannot send files; the text is sent alone`);
  if (content.trim() === '') return [];
  const chunks = outbound.chunksOf?.(content, message.accountId) ?? [content];
  return chunks.map((text) => ({ verb: 'sendText', context: { ...base, text } }));
}

/** The address as the channel writes it: a message that answers goes to the address that its channel gave. */
function targetOf(
  cfg: LegacySendContext['cfg'],
  outbound: NonNullable<LegacyChannel['outbound']>,
  { to, accountId, kind }: ApprovedMessage,
): string {
  if (kind !== 'unprompted' || outbound.resolveTarget === undefined) return to;
  const found = outbound.resolveTarget({ cfg, to, accountId, mode: 'explicit' });
  const { ok, to: target, error } = isFields(found) ? found : {};
  if (ok === true && typeof target === 'string') return target;
  throw error instanceof Error ? error : new Error(`it has no address "${to}"`);
}

function baseOf(
  cfg: LegacySendContext['cfg'],
  { accountId, threadId, silent, attachments }: ApprovedMessage,
  to: string,
  replyToId: string | undefined,
): Omit<LegacySendContext, 'text'> {
  return {
    cfg,
    to,
    accountId,
    ...definedFields({ threadId, replyToId, silent }),
    ...(attachments.some(({ asAnimation }) => asAnimation === true) && { gifPlayback: true }),
  };
}

/** Makes a receipt of the channel's answers. The last part has the id that a message is known by. */
export function receiptOf(deliveries: readonly LegacyDelivery[]): DeliveryReceipt {
  const ids = deliveries.map(({ messageId }) => textOf(messageId)).filter((id) => id !== undefined);
  const last = deliveries.at(-1) ?? {};
  const { conversationId, channelId, roomId, chatId, toJid, pollId, timestamp, meta } = last;
  const messageId = ids.at(-1);
  const place = [conversationId, channelId, roomId, chatId]
    .map(textOf)
    .find((id) => id !== undefined);
  const recipientId = textOf(toJid);
  const poll = textOf(pollId);
  return {
    ...definedFields({ messageId }),
    ...(ids.length > 1 && { messageIds: ids }),
    ...definedFields({ conversationId: place, recipientId, pollId: poll }),
    ...(typeof timestamp === 'number' && timestamp >= 0 && { sentAtMs: timestamp }),
    ...(typeof meta === 'object' && meta !== null && { meta: { ...meta } }),
  };
}
