/** The shapes that an OpenClaw plugin registers beside hooks, and those that it is called with; profile 2026.3. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ToolDefinition } from '@sluice/sdk/stream';

type Fields = Readonly<Record<string, unknown>>;

/** The logger of a plugin. */
export interface LegacyLogger {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** The context of a service when it starts and stops. */
export interface LegacyServiceContext {
  readonly config: Fields;
  readonly workspaceDir: string;
  /** A folder for what it keeps. It need not exist yet. */
  readonly stateDir: string;
  readonly logger: LegacyLogger;
}

/** Something that runs while the host runs. */
export interface LegacyService {
  readonly id: string;
  start(context: LegacyServiceContext): unknown;
  stop?(context: LegacyServiceContext): unknown;
}

/** The context of a command. */
export interface LegacyCommandContext {
  readonly senderId?: string;
  readonly channel: string;
  readonly channelId?: string;
  readonly isAuthorizedSender: boolean;
  /** The text after the name, as it was written. */
  readonly args?: string;
  readonly commandBody: string;
  readonly config: Fields;
  readonly from?: string;
  readonly to?: string;
  readonly accountId?: string;
  readonly messageThreadId?: number;
}

/** A command that people give in a chat. */
export interface LegacyCommand {
  readonly name: string;
  readonly description: string;
  /** Without it the command is refused where something follows its name. */
  readonly acceptsArgs?: boolean;
  /** Only senders who may give commands; so by default. */
  readonly requireAuth?: boolean;
  /** Returns a `LegacyReply`, or a promise of one. It is not trusted to. */
  handler(context: LegacyCommandContext): unknown;
}

/** The turn that a factory makes tools for. */
export interface LegacyToolTurn {
  readonly config: Fields;
  readonly workspaceDir: string;
  readonly agentId: string;
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly messageChannel: string;
  readonly agentAccountId?: string;
  readonly requesterSenderId?: string;
  readonly senderIsOwner: boolean;
  readonly sandboxed: boolean;
}

/** Tools that a plugin has registered with one call. */
export interface LegacyTool {
  /** As far as the plugin has told them: a factory need not. */
  readonly names: readonly string[];
  /** Agents get them only if the operator allows them. */
  readonly optional: boolean;
  /** Makes those that the operator lets the agent of a turn have. Never throws. */
  make(context: LegacyToolTurn): readonly ToolDefinition[];
}

/** The context of commands of a command line. */
export interface LegacyCliContext {
  /** A `Command` of the package `commander`. */
  readonly program: unknown;
  readonly config: Fields;
  readonly workspaceDir: string;
  readonly logger: LegacyLogger;
}

/** Commands that a plugin adds to a command line. */
export interface LegacyCliCommands {
  /** The names that it has announced. */
  readonly names: readonly string[];
  /** Adds them to the program. It may return a promise. */
  register(context: LegacyCliContext): unknown;
}

/** The answer of a gateway method. */
export interface LegacyGatewayAnswer {
  readonly ok: boolean;
  readonly payload?: unknown;
  readonly error?: unknown;
}

/** A method that a plugin adds to the gateway of OpenClaw. */
export interface LegacyGatewayMethod {
  readonly method: string;
  /** Settles when the method has responded; rejects if it throws. A method may never respond. */
  call(params: Fields): Promise<LegacyGatewayAnswer>;
}

/** A path of the host's HTTP port that a plugin answers. */
export interface LegacyHttpRoute {
  readonly path: string;
  /** `prefix` is the path and all below it; `any` is each request that no other route answers (`registerHttpHandler`). */
  readonly match: 'exact' | 'prefix' | 'any';
  /** `gateway`: only requests with the token of OpenClaw's gateway; `plugin`: the handler checks who asks. */
  readonly auth: 'gateway' | 'plugin';
  /** `false`, or a promise of it, leaves the request to another route. */
  handler(request: IncomingMessage, response: ServerResponse): unknown;
}

/** A skill for an agent: a folder with a `SKILL.md`. */
export interface LegacySkill {
  readonly name: string;
  readonly path: string;
}

/** A reply in a chat. */
export interface LegacyReply {
  readonly text?: string;
  readonly mediaUrl?: string;
  readonly mediaUrls?: readonly string[];
  readonly audioAsVoice?: boolean;
  readonly isError?: boolean;
  /** It is the model's reasoning, and no answer. */
  readonly isReasoning?: boolean;
  readonly replyToId?: string;
  /** Data that only its channel understands. */
  readonly channelData?: Fields;
}

/** A message for a channel to send. */
export interface LegacySendContext {
  readonly cfg: Fields;
  readonly to: string;
  readonly text: string;
  readonly mediaUrl?: string;
  readonly gifPlayback?: boolean;
  readonly replyToId?: string;
  readonly threadId?: string | number;
  readonly accountId: string;
  readonly silent?: boolean;
  /** For `sendPayload` alone. */
  readonly payload?: LegacyReply;
}

/** A channel's report of a delivery. Read field by field: it comes from outside. */
export interface LegacyDelivery {
  readonly messageId?: unknown;
  readonly chatId?: unknown;
  readonly channelId?: unknown;
  readonly roomId?: unknown;
  readonly conversationId?: unknown;
  readonly timestamp?: unknown;
  readonly toJid?: unknown;
  readonly pollId?: unknown;
  readonly meta?: unknown;
}

/** How a channel sends. */
interface LegacyOutbound {
  readonly chunker?: ((text: string, limit: number) => readonly string[]) | null;
  readonly textChunkLimit?: number;
  /** The parts that a text is sent in: those of the chunker, within the limit of the account. The bridge adds it. */
  chunksOf?(text: string, accountId: string): readonly string[];
  /** Reads an address as people write it. Not trusted to give `{ ok, to, error }`. */
  resolveTarget?(asked: Fields): unknown;
  sendText?(context: LegacySendContext): Promise<LegacyDelivery>;
  sendMedia?(context: LegacySendContext): Promise<LegacyDelivery>;
  sendPayload?(context: LegacySendContext): Promise<LegacyDelivery>;
}

/** The context that an account of a channel is started and stopped with. */
export interface LegacyAccountContext {
  readonly cfg: Fields;
  readonly accountId: string;
  /** As the channel's `config.resolveAccount` gives it. */
  readonly account: unknown;
  readonly runtime: {
    log(text: unknown): void;
    error(text: unknown): void;
    exit(code: number): never;
  };
  readonly log: LegacyLogger;
  readonly abortSignal: AbortSignal;
  readonly getStatus: () => Fields;
  readonly setStatus: (patch: Fields) => void;
  /** `api.runtime.channel`. */
  readonly channelRuntime: object;
}

/** How a channel takes messages in. */
export interface LegacyGateway {
  /** Runs as long as the account does: its promise ends when the account has. */
  startAccount?(context: LegacyAccountContext): unknown;
  stopAccount?(context: LegacyAccountContext): unknown;
}

/** A channel, of which only what is used here is named. What its functions give comes from outside. */
export interface LegacyChannel {
  readonly id: string;
  readonly config?: {
    listAccountIds?(config: Fields): readonly string[];
    resolveAccount?(config: Fields, accountId: string): unknown;
    isEnabled?(account: unknown, config: Fields): unknown;
    isConfigured?(account: unknown, config: Fields): unknown;
    unconfiguredReason?(account: unknown, config: Fields): unknown;
  };
  readonly capabilities?: { readonly media?: boolean; readonly threads?: boolean };
  readonly outbound?: LegacyOutbound;
  readonly gateway?: LegacyGateway;
  readonly threading?: { resolveReplyToMode?(asked: Fields): unknown };
  readonly status?: { readonly defaultRuntime?: Fields };
}
