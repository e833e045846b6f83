import type { PluginHost } from '@sluice/host';
import type { ApprovedMessage, ChannelInbox, ChannelPlugin, SendResult } from '@sluice/sdk/channel';
import { checkPermit } from '@sluice/sdk/channel/internal';
import { isSluiceError, oneLine } from 'sluice-kernel/internal';
import type { LegacyPlugin } from '../plugin/shape/plugin.js';
import type { LegacyChannel, LegacyDelivery } from '../plugin/shape/shapes.js';
import { type RunningGateway, runAccount } from './account.js';
import { ActiveMessages } from './active-messages.js';
import { decodeContext } from './decode-context.js';
import { partsOf, receiptOf } from './outbound.js';

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
      intake ??= plugin.intake.open(id, async (inbound) => {
        const as = [...running.keys()].find((one) => one.toLowerCase() === inbound.accountId);
        const to = as === undefined || !taking.has(as) ? undefined : running.get(as);
        return as !== undefined && to !== undefined && activeMessages.take(inbound, as, to.inbox);
      });
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
    stopIntake: async (accountId) => void taking.delete(accountId),
    stopAccount: async (accountId) => {
      const { gateway: started } = running.get(accountId) ?? {};
      running.delete(accountId);
      activeMessages.endAll(accountId); // so that the plugin's own code can end
      if (running.size === 0) {
        intake?.[Symbol.dispose]();
        intake = undefined;
      }
      await started?.stop();
    },
    updateEnded: (accountId, end) => activeMessages.end(accountId, end),
    decodeIngress: (raw, accountId) => decodeContext(id, accountId, raw, plugin.config),
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
