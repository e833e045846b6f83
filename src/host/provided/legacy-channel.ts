import {
  type ApprovedMessage,
  type ChannelInbox,
  type ChannelPlugin,
  checkPermit,
  type DeliveryReceipt,
} from '../../channel/index.js';
import { definedFields, isSluiceError, oneLine } from '../../kernel/index.js';
import type {
  LegacyChannel,
  LegacyDelivery,
  LegacyPlugin,
  LegacySendContext,
} from '../../legacy/index.js';

/** The account of a channel that names none. */
const defaultAccountId = 'default';

/**
 * Makes the channels of a plugin channels of a host. They send, under a permit as every channel does; they take nothing
 * in, because there is no bridge that hands messages on.
 */
export function channelsOfPlugin(plugin: LegacyPlugin): readonly ChannelPlugin[] {
  return plugin.channels.map((channel) => channelOf(plugin, channel));
}

function channelOf(plugin: LegacyPlugin, channel: LegacyChannel): ChannelPlugin {
  const { outbound, capabilities } = channel;
  const id = channel.id.trim();
  let host: ChannelInbox | undefined; // each of its accounts has the same host
  return {
    id,
    accounts: accountsOf(plugin, channel),
    capabilities: {
      sendsOnly: true,
      threads: capabilities?.threads === true,
      attachments: outbound?.sendMedia !== undefined || outbound?.sendPayload !== undefined,
    },
    // an error does not tell whether the provider has the message, so the message is not sent again
    resendPolicy: { ambiguous: 'fail', maxAttempts: 1, maxWaitMs: 0 },
    startAccount: async (_accountId, inbox) => {
      host = inbox;
    },
    stopIntake: async () => undefined,
    stopAccount: async () => undefined,
    decodeIngress: () => ({ kind: 'ignored', reason: `channel "${id}" takes nothing in` }),
    send: async (permit) => {
      checkPermit(permit, host);
      const message = permit.take();
      let parts: readonly Part[];
      try {
        parts = partsOf(plugin, channel, message);
      } catch (error) {
        return { status: 'rejected', reason: `nothing of it was sent: ${oneLine(error)}` };
      }
      if (parts.length === 0)
        return { status: 'rejected', reason: 'there is nothing in it to send' };
      const deliveries: LegacyDelivery[] = [];
      for (const { verb, context } of parts) {
        if (outbound?.[verb] === undefined)
          return { status: 'rejected', reason: `channel "${id}" has no outbound.${verb}` };
        try {
          deliveries.push((await outbound[verb](context)) ?? {});
        } catch (error) {
          const sent =
            deliveries.length === 0
              ? ''
              : `${deliveries.length} of ${parts.length} parts were sent, then: `;
          if (isSluiceError(error, 'plugin-unsupported') && deliveries.length === 0)
            return {
              status: 'rejected',
              reason: `nothing says that it was sent: ${oneLine(error)}`,
            };
          return { status: 'ambiguous', reason: `${sent}${oneLine(error)}` };
        }
      }
      return { status: 'sent', receipt: receiptOf(deliveries) };
    },
  };
}

function accountsOf({ config, logger }: LegacyPlugin, channel: LegacyChannel): readonly string[] {
  try {
    const listed = channel.config?.listAccountIds?.(config) ?? [];
    return listed.length > 0 ? [...listed] : [defaultAccountId];
  } catch (error) {
    logger.error(`channel "${channel.id}" does not list its accounts`, { error });
    return [defaultAccountId];
  }
}

interface Part {
  readonly verb: 'sendText' | 'sendMedia' | 'sendPayload';
  readonly context: LegacySendContext;
}

/** Makes the calls of a channel for one message, as OpenClaw calls it: in pieces, or file by file. */
function partsOf(
  { config, logger }: LegacyPlugin,
  { id, outbound = {} }: LegacyChannel,
  message: ApprovedMessage,
): readonly Part[] {
  const { content, attachments, metadata } = message;
  const base = baseOf(config, message);
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
  return chunksOf(outbound, content).map((text) => ({
    verb: 'sendText',
    context: { ...base, text },
  }));
}

function baseOf(
  cfg: LegacySendContext['cfg'],
  { to, accountId, threadId, replyToId, silent, attachments }: ApprovedMessage,
): Omit<LegacySendContext, 'text'> {
  return {
    cfg,
    to,
    accountId,
    ...definedFields({ threadId, replyToId, silent }),
    ...(attachments.some(({ asAnimation }) => asAnimation === true) && { gifPlayback: true }),
  };
}

function chunksOf(
  { chunker, textChunkLimit }: NonNullable<LegacyChannel['outbound']>,
  text: string,
): readonly string[] {
  if (text.trim() === '') return [];
  if (chunker == null || textChunkLimit === undefined) return [text];
  const chunks: unknown = chunker(text, textChunkLimit); // from outside
  if (!Array.isArray(chunks) || !chunks.every((chunk) => typeof chunk === 'string'))
    throw new TypeError('its chunker gave no list of texts');
  return chunks;
}

/** Makes a receipt of the channel's answers. The last part has the id that a message is known by. */
function receiptOf(deliveries: readonly LegacyDelivery[]): DeliveryReceipt {
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

function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
