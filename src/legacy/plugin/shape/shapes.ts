/** The shapes that an OpenClaw plugin registers beside hooks, and those that it is called with; profile 2026.3. */

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

/** A reply in a chat. */
export interface LegacyReply {
  readonly text?: string;
  readonly mediaUrl?: string;
  readonly mediaUrls?: readonly string[];
  readonly audioAsVoice?: boolean;
  readonly isError?: boolean;
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
export interface LegacyOutbound {
  readonly chunker?: ((text: string, limit: number) => readonly string[]) | null;
  readonly textChunkLimit?: number;
  sendText?(context: LegacySendContext): Promise<LegacyDelivery>;
  sendMedia?(context: LegacySendContext): Promise<LegacyDelivery>;
  sendPayload?(context: LegacySendContext): Promise<LegacyDelivery>;
}

/** A channel, of which only what is used here is named. */
export interface LegacyChannel {
  readonly id: string;
  readonly config?: { listAccountIds?(config: Fields): readonly string[] };
  readonly capabilities?: { readonly media?: boolean; readonly threads?: boolean };
  readonly outbound?: LegacyOutbound;
  /** The member that would take messages in. */
  readonly gateway?: { readonly startAccount?: unknown };
}
