import type { PluginHost } from '@sluice/host';
import type {
  ApprovedMessage,
  ChannelInbox,
  ChannelPlugin,
  DeliveryReceipt,
  SendResult,
} from '@sluice/sdk/channel';
import { checkPermit } from '@sluice/sdk/channel/internal';
import { definedFields, isFields, isSluiceError, oneLine } from 'sluice-kernel/internal';
import { textOf } from '../plugin/channel/settings.js';
import type { LegacyPlugin } from '../plugin/shape/plugin.js';
import type { LegacyChannel, LegacyDelivery, LegacySendContext } from '../plugin/shape/shapes.js';
import type { LostBecause } from '../plugin/way/carried.js';
import { type RunningGateway, runAccount } from './account.js';
import { ActiveMessages } from './active-messages.js';
import { decodeContext } from './decode-context.js';
import { decodeLost, lostUpdate } from './lost-update.js';

/** The account of a channel that names none. */
const defaultAccountId = 'default';

/**
 * Makes a channel of a plugin a channel of a host. It sends under a permit as every channel does. One that has
 * `gateway.startAccount` takes in, too: what its dispatchers hand over goes through the host (spec §17.19).
 */
export function legacyChannel(
  plugin: LegacyPlugin,
  channel: LegacyChannel,
  { clock, eventIdOf }: PluginHost,
): ChannelPlugin {
  const { outbound, capabilities, gateway } = channel;
  const id = channel.id.trim();
  const takesIn = gateway?.startAccount !== undefined;
  const activeMessages = new ActiveMessages(id, plugin.config, eventIdOf);
  const running = new Map<string, { readonly inbox: ChannelInbox; gateway?: RunningGateway }>();
  const taking = new Set<string>(); // the accounts that take in
  let host: ChannelInbox | undefined; // each of its accounts has the same host
  let intake: Disposable | undefined;

  return {
    id,
    accounts: accountsOf(plugin, channel),
    capabilities: {
      ...(!takesIn && { sendsOnly: true }),
      threads: capabilities?.threads === true,
      attachments: outbound?.sendMedia !== undefined || outbound?.sendPayload !== undefined,
    },
    // an error does not tell whether the provider has the message, so the message is not sent again
    resendPolicy: { ambiguous: 'fail', maxAttempts: 1, maxWaitMs: 0 },
    startAccount: async (accountId, inbox) => {
      host = inbox;
      if (!takesIn) return;
      const named = (id: string): string | undefined =>
        [...running.keys()].find((one) => one.toLowerCase() === id.toLowerCase());
      intake ??= plugin.intake.open(
        id,
        async (inbound) => {
          const as = named(inbound.accountId) ?? '';
          const to = taking.has(as) ? running.get(as) : undefined;
          return to !== undefined && activeMessages.take(inbound, as, to.inbox);
        },
        (lostAt, raw, because) => {
          const to = running.get(named(lostAt) ?? '') ?? running.values().next().value;
          void keepLost(plugin, to?.inbox, raw, because);
        },
      );
      plugin.state.reread(accountId, inbox.lost);
      taking.add(accountId); // it may bring its first message at once
      running.set(accountId, { inbox });
      const onGivenUp = (reason: string): void =>
        inbox.ended({ reason: `channel "${id}": account "${accountId}" has ended: ${reason}` });
      try {
        const started = await runAccount(plugin, channel, accountId, { clock, onGivenUp });
        running.set(accountId, { inbox, gateway: started });
      } catch (error) {
        taking.delete(accountId);
        running.delete(accountId);
        throw error;
      }
    },
    stopIntake: async (accountId) => {
      taking.delete(accountId);
      plugin.intake.leave(id, accountId);
    },
    stopAccount: async (accountId) => {
      plugin.intake.leave(id, accountId);
      const { gateway: started } = running.get(accountId) ?? {};
      running.delete(accountId);
      activeMessages.endAll(accountId); // so that the plugin's own code can end
      if (running.size === 0) {
        intake?.[Symbol.dispose]();
        intake = undefined;
      }
      await started?.stop();
    },
    troubles: () =>
      [...running].flatMap(([accountId, { gateway: started }]) => {
        const failed = plugin.intake
          .troublesOf(id, accountId)
          .failed.map((member) => `${member} has failed`);
        const stuck = 'messages wait in its queue, and its plugin takes none';
        const all = [
          started?.trouble() ?? [],
          failed,
          plugin.state.isStuck(accountId) ? stuck : [],
        ];
        return all.flat().map((what) => ({ accountId, what }));
      }),
    updateEnded: (accountId, end) => activeMessages.end(accountId, end),
    decodeIngress: (raw, accountId) =>
      decodeLost(raw) ?? decodeContext(id, accountId, raw, plugin.config),
    send: async (permit, { correlationId }) => {
      checkPermit(permit, host);
      const message = permit.take();
      const held = activeMessages.answeredBy(message, correlationId);
      const replyToId = replyIdOf(plugin, channel, message, held?.inbound.context['MessageSid']);
      return held === undefined
        ? sendOut(plugin, channel, message, replyToId)
        : activeMessages.deliver(held, message, replyToId);
    },
  };
}

/** Keeps a text that the plugin has lost as a dead letter. */
async function keepLost(
  { logger }: LegacyPlugin,
  inbox: ChannelInbox | undefined,
  raw: unknown,
  because: LostBecause,
): Promise<void> {
  const answer = (await inbox?.receive(lostUpdate(raw, because))) ?? inbox;
  if (answer === 'refused' || answer === undefined)
    logger.error('a text that was lost could not be kept', { member: because.member });
}

/** Sends by the channel's `outbound`, in the calls that OpenClaw would make. */
async function sendOut(
  plugin: LegacyPlugin,
  channel: LegacyChannel,
  message: ApprovedMessage,
  replyToId: string | undefined,
): Promise<SendResult> {
  const { outbound, id } = channel;
  let parts: ReturnType<typeof partsOf>;
  try {
    parts = partsOf(plugin, channel, message, replyToId);
  } catch (error) {
    return { status: 'rejected', reason: `nothing of it was sent: ${oneLine(error)}` };
  }
  if (parts.length === 0) return { status: 'rejected', reason: 'there is nothing in it to send' };
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
        return { status: 'rejected', reason: `nothing says that it was sent: ${oneLine(error)}` };
      return { status: 'ambiguous', reason: `${sent}${oneLine(error)}` };
    }
  }
  return { status: 'sent', receipt: receiptOf(deliveries) };
}

/** The message that a reply is shown under: of its own accord only where the channel's `replyToMode` says so. */
function replyIdOf(
  { config: cfg, logger }: LegacyPlugin,
  { id, threading }: LegacyChannel,
  { kind, replyToId, accountId, isGroup }: ApprovedMessage,
  ownId: unknown,
): string | undefined {
  const isChosen = ownId !== undefined && replyToId !== ownId; // the agent names another message
  if (kind === 'unprompted' || isChosen) return replyToId;
  const chatType = isGroup === true ? 'group' : 'direct';
  try {
    const mode: unknown = threading?.resolveReplyToMode?.({ cfg, accountId, chatType });
    return mode === 'all' || mode === 'first' ? replyToId : undefined;
  } catch (error) {
    logger.warn(`channel "${id}" does not say how it shows a reply`, { accountId, error });
    return undefined; // the reply goes out all the same
  }
}

function accountsOf({ config, logger }: LegacyPlugin, channel: LegacyChannel): readonly string[] {
  try {
    const listed = [...(channel.config?.listAccountIds?.(config) ?? [])];
    const lower = listed.map((id) => id.toLowerCase());
    const isFirst = (_: string, at: number): boolean => lower.indexOf(lower[at] ?? '') === at;
    const kept = listed.filter(isFirst); // in OpenClaw, too, two that differ in case are one
    if (kept.length < listed.length)
      logger.error('accounts whose names differ only in case are one', {
        ...{ channel: channel.id, accounts: listed, kept },
      });
    return kept.length > 0 ? kept : [defaultAccountId];
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
