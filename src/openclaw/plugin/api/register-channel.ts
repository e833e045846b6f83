import { oneLine } from 'sluice-kernel/internal';
import { resolveTextChunkLimit } from '../channel/texts.js';
import { withRoutes } from '../http/plugin-routes.js';
import type {
  LegacyAccountContext,
  LegacyChannel,
  LegacyDelivery,
  LegacyGateway,
  LegacySendContext,
} from '../shape/shapes.js';
import type { Registering } from './registering.js';

type Outbound = NonNullable<LegacyChannel['outbound']>;

/** `api.registerChannel`: a channel, by itself or in `{ plugin, dock }`. It takes in if it has `gateway.startAccount`. */
export function registerChannel(
  plugin: Registering,
  registration: LegacyChannel | { readonly plugin: LegacyChannel },
): void {
  const { report, channels } = plugin;
  const given: unknown =
    'plugin' in registration && typeof registration.plugin === 'object'
      ? registration.plugin
      : registration;
  const channel = given as LegacyChannel; // what is used of it is checked here
  const id = String(channel?.id ?? '').trim();
  if (id === '') return void report('error', 'a channel has no id');
  if (channels.some((other) => other.id === id))
    return void report('error', `channel "${id}" is registered already`);
  const { outbound, gateway } = channel;
  if (outbound?.sendText === undefined && outbound?.sendPayload === undefined)
    return void report(
      'error',
      `channel "${id}" has neither outbound.sendText nor outbound.sendPayload: it cannot send`,
    );
  const judged = {
    outbound: { value: judgedOutbound(plugin, id, outbound) },
    ...(typeof gateway?.startAccount === 'function' && {
      gateway: { value: gatewayOf(plugin, id, gateway) },
    }),
  };
  channels.push(Object.create(channel, judged));
}

/** How a channel sends, where nothing counts that comes of a member that is not there. */
function judgedOutbound(
  { refusals, config }: Registering,
  id: string,
  outbound: Outbound,
): Outbound {
  const { chunker, textChunkLimit: fallbackLimit } = outbound;
  const judged = (send: ((context: LegacySendContext) => Promise<LegacyDelivery>) | undefined) =>
    send && {
      value: (context: LegacySendContext) => refusals.send(() => send.call(outbound, context)),
    };
  const chunksOf = (text: string, accountId: string): readonly string[] => {
    if (chunker == null || fallbackLimit === undefined) return [text];
    const limit = resolveTextChunkLimit(config, id, accountId, { fallbackLimit });
    const chunks: unknown = refusals.check(chunker.call(outbound, text, limit)); // from outside
    if (!Array.isArray(chunks) || !chunks.every((chunk) => typeof chunk === 'string'))
      throw new TypeError('its chunker gave no list of texts');
    return chunks;
  };
  const verbs = {
    chunksOf: { value: chunksOf },
    sendText: judged(outbound.sendText),
    sendMedia: judged(outbound.sendMedia),
    sendPayload: judged(outbound.sendPayload),
  };
  const there = Object.entries(verbs).flatMap(([name, verb]) => (verb ? [[name, verb]] : []));
  return Object.create(outbound, Object.fromEntries(there)) as typeof outbound; // its own verbs, in front of the plugin's
}

/** How a channel takes in: the host says which account, and the plugin's own parts of the context are added here. */
function gatewayOf(plugin: Registering, id: string, gateway: LegacyGateway): LegacyGateway {
  const { legacyLogger, channelRuntime, httpRoutes } = plugin;
  const log = (text: unknown): void => legacyLogger.info(lineOf(text));
  const error = (text: unknown): void => legacyLogger.error(lineOf(text));
  const exit = (): never => {
    throw new Error(`channel "${id}" asked the process to end; it goes on`);
  };
  const whole = (context: LegacyAccountContext): LegacyAccountContext => ({
    ...context,
    runtime: { log, error, exit },
    log: legacyLogger,
    channelRuntime: channelRuntime(),
  });
  return {
    startAccount: (context) =>
      plugin.intake.inAccount(id, context.accountId, () =>
        withRoutes(httpRoutes, () => gateway.startAccount?.(whole(context))),
      ),
    stopAccount: (context) => gateway.stopAccount?.(whole(context)),
  };
}

function lineOf(text: unknown): string {
  return typeof text === 'string' ? text : oneLine(text);
}
