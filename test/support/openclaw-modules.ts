import { cutModule, type ModuleCut } from '../../src/openclaw/parity/openclaw-runner.js';

/** An event of the internal bus. */
export interface InternalHookEvent {
  type: string;
  action: string;
  sessionKey: string;
  context: Record<string, unknown>;
  timestamp: Date;
  messages: string[];
}

type InternalHandler = (event: InternalHookEvent) => unknown;

/** `src/hooks/internal-hooks.ts`; what the bundle has dropped (unregister, the list of keys) is not here. */
export interface InternalHooksModule {
  registerInternalHook(eventKey: string, handler: InternalHandler): void;
  clearInternalHooks(): void;
  triggerInternalHook(event: InternalHookEvent): Promise<void>;
  createInternalHookEvent(
    type: string,
    action: string,
    sessionKey: string,
    context?: Record<string, unknown>,
  ): InternalHookEvent;
  /** What the module has logged, in order. */
  readonly logged: readonly { subsystem: string; level: string; text: string }[];
  /** The map of handlers, which in the real system hangs on `globalThis`. */
  readonly globals: {
    readonly __openclaw_internal_hook_handlers__: Map<string, InternalHandler[]>;
  };
}

/** What listeners of agent events get. */
export interface RealAgentEvent {
  readonly runId: string;
  readonly seq: number;
  readonly stream: string;
  readonly ts: number;
  readonly data: Record<string, unknown>;
  readonly sessionKey?: string | undefined;
}

/** `src/infra/agent-events.ts` */
export interface AgentEventsModule {
  emitAgentEvent(event: Omit<RealAgentEvent, 'seq' | 'ts'>): void;
  onAgentEvent(listener: (event: RealAgentEvent) => void): () => boolean;
  registerAgentRunContext(runId: string, context: Record<string, unknown>): void;
  getAgentRunContext(runId: string): Record<string, unknown> | undefined;
  clearAgentRunContext(runId: string): void;
}

type Mapper = (...args: readonly unknown[]) => Record<string, unknown>;

/** `src/hooks/message-hook-mappers.ts` */
export type MessageMappersModule = Readonly<
  Record<
    | 'deriveInboundMessageHookContext'
    | 'buildCanonicalSentMessageHookContext'
    | 'toPluginMessageContext'
    | 'toPluginMessageReceivedEvent'
    | 'toPluginMessageSentEvent'
    | 'toInternalMessageReceivedContext'
    | 'toInternalMessageTranscribedContext'
    | 'toInternalMessagePreprocessedContext'
    | 'toInternalMessageSentContext',
    Mapper
  >
>;

/** `src/telegram/bot-message-context.session.ts`, and what it calls in `src/telegram/bot/helpers.ts` */
export interface TelegramContextModule {
  buildTelegramInboundContextPayload(
    params: Record<string, unknown>,
  ): Promise<{ readonly ctxPayload: Record<string, unknown> }>;
  resolveTelegramThreadSpec(params: Record<string, unknown>): {
    readonly id?: number;
    readonly scope: string;
  };
  getTelegramTextParts(message: unknown): { readonly text: string; readonly entities: unknown };
  expandTextLinks(text: string, entities: unknown): string;
  resolveTelegramMediaPlaceholder(message: unknown): string | undefined;
}

/** `src/telegram/bot/delivery.replies.ts` */
export interface TelegramRepliesModule {
  deliverReplies(params: Record<string, unknown>): Promise<unknown>;
  /** What stands for the rest of the system: the hooks, and what sends. */
  readonly outside: { hookRunner: unknown; send: () => Promise<number> };
}

const cuts = {
  internalHooks: {
    region: 'src/hooks/internal-hooks.ts',
    exports: [
      'registerInternalHook',
      'clearInternalHooks',
      'triggerInternalHook',
      'createInternalHookEvent',
    ],
    prelude: `
      const globals = {};
      const globalThis = globals;
      const logged = [];
      const createSubsystemLogger = (subsystem) =>
        Object.fromEntries(['debug', 'info', 'warn', 'error'].map((level) =>
          [level, (text) => void logged.push({ subsystem, level, text })]));
    `,
    alsoExports: ['globals', 'logged'],
  },
  agentEvents: {
    region: 'src/infra/agent-events.ts',
    exports: [
      'emitAgentEvent',
      'onAgentEvent',
      'registerAgentRunContext',
      'getAgentRunContext',
      'clearAgentRunContext',
    ],
  },
  messageMappers: {
    region: 'src/hooks/message-hook-mappers.ts',
    exports: [
      'deriveInboundMessageHookContext',
      'buildCanonicalSentMessageHookContext',
      'toPluginMessageContext',
      'toPluginMessageReceivedEvent',
      'toPluginMessageSentEvent',
      'toInternalMessageReceivedContext',
      'toInternalMessageTranscribedContext',
      'toInternalMessagePreprocessedContext',
      'toInternalMessageSentContext',
    ],
  },
  telegramContext: {
    region: 'src/telegram/bot-message-context.session.ts',
    exports: ['buildTelegramInboundContextPayload'],
    with: [
      'src/telegram/bot/helpers.ts',
      'src/auto-reply/reply/inbound-context.ts',
      'src/auto-reply/reply/inbound-text.ts',
    ],
    prelude: `
      const nothing = () => undefined;
      const [readSessionUpdatedAt, resolveStorePath$1, resolveEnvelopeFormatOptions] = [nothing, nothing, nothing];
      const [recordInboundSession, logVerbose, resolveLocation] = [async () => {}, nothing, nothing];
      const [resolvePinnedMainDmOwnerFromAllowlist, resolveInboundLastRouteSessionKey] = [nothing, nothing];
      const [shouldLogVerbose, resolveConversationLabel] = [() => false, nothing];
      const formatInboundEnvelope = ({ body }) => body;
      const resolveTelegramGroupPromptSettings = () => ({});
      const normalizeCommandBody = (text) => text.trim();
      const normalizeChatType = (type) => type;
    `,
    alsoExports: [
      'resolveTelegramThreadSpec',
      'getTelegramTextParts',
      'expandTextLinks',
      'resolveTelegramMediaPlaceholder',
    ],
  },
  telegramReplies: {
    region: 'src/telegram/bot/delivery.replies.ts',
    exports: ['deliverReplies'],
    with: ['src/hooks/message-hook-mappers.ts', 'src/telegram/bot/reply-threading.ts'],
    prelude: `
      const outside = { hookRunner: undefined, send: async () => 1 };
      const getGlobalHookRunner = () => outside.hookRunner;
      const fireAndForgetHook = (promise) => void promise;
      const logVerbose = () => undefined;
      const danger = (text) => text;
      const formatErrorMessage = (error) => String(error);
      const resolveTelegramReplyId = () => undefined;
      const buildInlineKeyboard = () => undefined;
      const markdownToTelegramChunks = (text) => [{ html: text, text }];
      const chunkMarkdownTextWithMode = (text) => [text];
      const sendTelegramText = () => outside.send();
      const sendTelegramWithThreadFallback = async () => ({ message_id: await outside.send() });
      const loadWebMedia = async () => ({ buffer: Buffer.from(''), contentType: 'image/png', fileName: 'a.png' });
      const buildOutboundMediaLoadOptions = () => ({});
      const kindFromMime = () => 'image';
      const isGifMedia = () => false;
      const splitTelegramCaption = (caption) => ({ caption });
      const renderTelegramHtmlText = (text) => text;
      const InputFile = class {};
      const buildTelegramThreadParams = () => undefined;
      const buildTelegramSendParams = () => ({});
    `,
    alsoExports: ['outside'],
  },
} as const satisfies Record<string, ModuleCut>;

interface Modules {
  internalHooks: InternalHooksModule;
  agentEvents: AgentEventsModule;
  messageMappers: MessageMappersModule;
  telegramContext: TelegramContextModule;
  telegramReplies: TelegramRepliesModule;
}

/** A fresh instance of one source module of the package, state and all. */
export async function openClawModule<Name extends keyof Modules>(
  root: string,
  name: Name,
): Promise<Modules[Name]> {
  return (await cutModule(root, cuts[name])) as Modules[Name]; // typed by hand: the package ships no such types
}
