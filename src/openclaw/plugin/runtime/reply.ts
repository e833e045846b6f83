import { type Fields, fieldsOf, isFields } from 'sluice-kernel/internal';
import type { Registering } from '../api/registering.js';
import { finalizeInboundContext, plainContext } from '../channel/context.js';
import {
  formatAgentEnvelope,
  formatInboundEnvelope,
  resolveEnvelopeFormatOptions,
} from '../channel/envelope.js';
import { accountOf, agentSettings, sectionsOf, textOf } from '../channel/settings.js';
import type { LegacyReplyKind } from '../shape/intake.js';
import type { LegacyReply } from '../shape/shapes.js';

/** Has the plugin's code deliver a reply. */
export type Deliver = (reply: LegacyReply, info: { readonly kind: LegacyReplyKind }) => unknown;
type Callback = (() => unknown) | undefined;

/** The callbacks that tell people that somebody writes. */
interface Typing {
  readonly onReplyStart?: Callback;
  readonly onIdle?: Callback;
  readonly onCleanup?: Callback;
}

/** The part of a dispatcher's options that is read here. */
export interface DispatcherOptions extends Typing {
  readonly deliver: Deliver;
  readonly onError?: (error: unknown, info: { readonly kind: LegacyReplyKind }) => unknown;
  readonly typingCallbacks?: Typing;
  readonly responsePrefix?: string;
  readonly responsePrefixContextProvider?: () => unknown;
}

/** The moments of an event that waits in the queue of its channel (profile 2026.9). */
export interface Adoption {
  /** Aborts if the event is no longer to be a message: a later one has taken its place, for instance. */
  readonly abortSignal?: AbortSignal;
  onAdopted?(): unknown;
}

/** The options of a reply that count here. */
interface ReplyOptions {
  readonly turnAdoptionLifecycle?: Adoption | undefined;
}

interface Dispatcher {
  sendToolResult(reply: LegacyReply): boolean;
  sendBlockReply(reply: LegacyReply): boolean;
  sendFinalReply(reply: LegacyReply): boolean;
  waitForIdle(): Promise<unknown>;
  getQueuedCounts(): Readonly<Record<LegacyReplyKind, number>>;
  markComplete(): void;
}

const senders = {
  tool: 'sendToolResult',
  block: 'sendBlockReply',
  final: 'sendFinalReply',
} as const satisfies Record<LegacyReplyKind, keyof Dispatcher>;

/**
 * `channel.reply`: the context and the head of a message, and the dispatchers, which hand a message to the host and have each
 * reply that may go out delivered by the plugin's own code (spec §17.20).
 */
export function replyOf(plugin: Registering) {
  const { refusals, intake: way } = plugin;
  /** The code that delivers for a dispatcher that was made here. */
  const deliveries = new WeakMap<object, Deliver>();

  const run = async (ctx: object, deliver: Deliver, typing: Typing, options: ReplyOptions = {}) => {
    const { turnAdoptionLifecycle: adoption } = options;
    adoption?.abortSignal?.throwIfAborted();
    const counts = { tool: 0, block: 0, final: 0 };
    const context = plainContext(finalizeInboundContext(ctx));
    void told(plugin, typing.onReplyStart); // a message does not wait until it is told that somebody writes
    try {
      const channelId = channelOf(plugin, context);
      const accountId = accountOf(context['AccountId']);
      await way.hand({
        ...{ channelId, accountId, context },
        deliver: async (reply, kind) => {
          const send = () => refusals.send(() => deliver(reply, { kind }));
          const delivered = await way.forHost(channelId, accountId, send);
          counts[kind] += 1;
          return fieldsOf(delivered);
        },
        onTaken: () => told(plugin, () => adoption?.onAdopted?.()),
      });
    } finally {
      await told(plugin, typing.onIdle);
      await told(plugin, typing.onCleanup);
    }
    return { queuedFinal: counts.final > 0, counts };
  };

  return {
    finalizeInboundContext,
    formatAgentEnvelope,
    formatInboundEnvelope,
    resolveEnvelopeFormatOptions,
    resolveHumanDelayConfig,
    resolveEffectiveMessagesConfig,
    dispatchReplyWithBufferedBlockDispatcher: (given: {
      readonly ctx: object;
      readonly dispatcherOptions: DispatcherOptions;
      readonly replyOptions?: ReplyOptions;
    }) =>
      run(
        given.ctx,
        deliveryOf(plugin, given.dispatcherOptions),
        typingOf(given.dispatcherOptions),
        given.replyOptions,
      ),
    createReplyDispatcherWithTyping: (options: DispatcherOptions) => {
      const deliver = deliveryOf(plugin, options);
      const { onReplyStart, onIdle, onCleanup } = typingOf(options);
      const dispatcher = dispatcherOf(deliver);
      deliveries.set(dispatcher, deliver);
      return {
        dispatcher,
        replyOptions: {
          onReplyStart,
          onTypingCleanup: onCleanup,
          onTypingController: () => undefined,
        },
        markDispatchIdle: () => void told(plugin, onIdle),
        markRunComplete: () => undefined,
      };
    },
    dispatchReplyFromConfig: (given: {
      readonly ctx: object;
      readonly dispatcher: Dispatcher;
      readonly replyOptions?: Typing & ReplyOptions & { readonly onTypingCleanup?: Callback };
    }) => {
      const { ctx, dispatcher, replyOptions = {} } = given;
      const { onReplyStart, onTypingCleanup } = replyOptions;
      const deliver = deliveries.get(dispatcher) ?? deliveryBy(dispatcher);
      return run(ctx, deliver, { onReplyStart, onCleanup: onTypingCleanup }, replyOptions);
    },
    withReplyDispatcher: async (given: {
      readonly dispatcher: Dispatcher;
      readonly run: () => unknown;
      readonly onSettled?: Callback;
    }) => {
      try {
        return await given.run();
      } finally {
        given.dispatcher.markComplete();
        await given.dispatcher.waitForIdle();
        await given.onSettled?.();
      }
    },
  };
}

/** Calls a callback of a plugin. What it throws is told, and keeps nothing back. */
async function told(plugin: Registering, callback: Callback): Promise<void> {
  try {
    await callback?.();
  } catch (error) {
    plugin.logger.warn('a callback of its reply dispatcher failed', { error });
  }
}

/** The channel that a message came by: the one that its context names, or else the only one that the plugin has. */
function channelOf({ channels }: Registering, context: Fields): string {
  const ids = channels.map(({ id }) => id.trim());
  const named = ['OriginatingChannel', 'Provider', 'Surface'].map((key) => textOf(context[key]));
  return named.find((id) => id !== undefined && ids.includes(id)) ?? ids[0] ?? named[0] ?? '';
}

function typingOf({ typingCallbacks = {}, ...own }: DispatcherOptions): Typing {
  return {
    onReplyStart: own.onReplyStart ?? typingCallbacks.onReplyStart,
    onIdle: own.onIdle ?? typingCallbacks.onIdle,
    onCleanup: own.onCleanup ?? typingCallbacks.onCleanup,
  };
}

/** The plugin's delivery, with its prefix in front. Its own `onError` is told, and the host learns of the error, too. */
function deliveryOf(plugin: Registering, options: DispatcherOptions): Deliver {
  return async (reply, info) => {
    try {
      return await options.deliver(withPrefix(reply, options), info);
    } catch (error) {
      await told(plugin, () => options.onError?.(error, info));
      throw error;
    }
  };
}

function withPrefix(reply: LegacyReply, options: DispatcherOptions): LegacyReply {
  const values = fieldsOf(options.responsePrefixContextProvider?.());
  const prefix = options.responsePrefix?.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    return textOf(values[name]) ?? whole;
  });
  const { text = '' } = reply;
  return !prefix || text === '' || text.startsWith(prefix)
    ? reply
    : { ...reply, text: `${prefix} ${text}` };
}

/** Delivers through a dispatcher that was made elsewhere: it tells its own errors. */
function deliveryBy(dispatcher: Dispatcher): Deliver {
  return async (reply, { kind }) => {
    if (!dispatcher[senders[kind]](reply)) throw new Error('its dispatcher takes no such reply');
    await dispatcher.waitForIdle();
  };
}

/** A dispatcher for what a plugin says by itself. */
function dispatcherOf(deliver: Deliver): Dispatcher {
  const counts = { tool: 0, block: 0, final: 0 };
  let sending: Promise<unknown> = Promise.resolve();
  const by = (kind: LegacyReplyKind) => (reply: LegacyReply) => {
    counts[kind] += 1;
    sending = sending.then(() => deliver(reply, { kind })).catch(() => undefined); // its onError was told
    return true;
  };
  return {
    sendToolResult: by('tool'),
    sendBlockReply: by('block'),
    sendFinalReply: by('final'),
    waitForIdle: () => sending,
    getQueuedCounts: () => ({ ...counts }),
    markComplete: () => undefined,
  };
}

function resolveHumanDelayConfig(cfg: unknown, agentId?: unknown): Fields | undefined {
  const { own, defaults } = agentSettings(cfg, agentId);
  const set = [defaults['humanDelay'], own['humanDelay']].filter(isFields);
  return set.length === 0 ? undefined : Object.assign({}, ...set);
}

/** `resolveEffectiveMessagesConfig`: the texts in front of messages and replies. */
export function resolveEffectiveMessagesConfig(
  cfg: unknown,
  agentId?: unknown,
  options: unknown = {},
) {
  const messages = fieldsOf(fieldsOf(cfg)['messages']);
  const { channel, accountId, fallbackMessagePrefix } = fieldsOf(options);
  const sections = sectionsOf(cfg, channel, accountId).map((section) => section['responsePrefix']);
  const set = [...sections, messages['responsePrefix']].find((one) => typeof one === 'string');
  const name = textOf(fieldsOf(agentSettings(cfg, agentId).own['identity'])['name']);
  const responsePrefix = set === 'auto' ? name && `[${name}]` : set;
  return {
    messagePrefix: messages['messagePrefix'] ?? fallbackMessagePrefix ?? '',
    responsePrefix,
  };
}
