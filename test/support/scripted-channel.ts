import type {
  ApprovedMessage,
  ChannelInbox,
  ChannelPlugin,
  DecodedIngress,
  InboundUpdate,
  SendPermit,
  SendResult,
} from '../../src/channel/index.js';

/** What a test says in a scripted channel. */
export interface Said {
  readonly text: string;
  readonly conversation?: string;
  readonly thread?: string;
  readonly from?: string;
  readonly metadata?: Record<string, unknown>;
  readonly commandAuthorized?: boolean;
  readonly native?: boolean;
}

/** A channel in a test's hands: what comes in is said by the test, what goes out is kept. */
export interface ScriptedChannel extends ChannelPlugin {
  /** What was sent, in order. */
  readonly sent: ApprovedMessage[];
  readonly acknowledged: InboundUpdate[];
  /** The accounts that are started and not stopped. */
  readonly running: Set<string>;
  /** Hands over an update; anything but a `Said` is undecodable. */
  // biome-ignore lint/suspicious/noConfusingVoidType: as the inbox has it
  receive(raw: unknown, updateId: string, accountId?: string): Promise<void | 'refused'>;
  /** Ends the intake. */
  end(reason?: string, accountId?: string): void;
}

/** How a scripted channel behaves; it sends everything where nothing is said. */
export interface ScriptedChannelOptions {
  readonly id?: string;
  readonly accounts?: readonly string[];
  readonly resendPolicy?: Partial<ChannelPlugin['resendPolicy']>;
  readonly deduplicatesSends?: boolean;
  readonly canWait?: boolean;
  /** The elements of a message that it shows. */
  readonly interactive?: ChannelPlugin['capabilities']['interactive'];
  /** Answers a send in place of the channel; it takes the permit or not. */
  readonly send?: (permit: SendPermit, sent: ApprovedMessage[]) => Promise<SendResult>;
  readonly startAccount?: (accountId: string) => Promise<void>;
  readonly decode?: (raw: unknown) => DecodedIngress | undefined;
}

export function scriptedChannel(options: ScriptedChannelOptions = {}): ScriptedChannel {
  const { id = 'scripted', accounts = ['default'] } = options;
  const inboxes = new Map<string, ChannelInbox>();
  const sent: ApprovedMessage[] = [];
  const acknowledged: InboundUpdate[] = [];
  const running = new Set<string>();
  return {
    id,
    accounts,
    sent,
    acknowledged,
    running,
    capabilities: {
      deduplicatesSends: options.deduplicatesSends ?? false,
      canWait: options.canWait ?? false,
      ...(options.interactive !== undefined && { interactive: options.interactive }),
    },
    resendPolicy: { ambiguous: 'fail', maxAttempts: 3, maxWaitMs: 60_000, ...options.resendPolicy },
    startAccount: async (accountId, inbox) => {
      await options.startAccount?.(accountId);
      inboxes.set(accountId, inbox);
      running.add(accountId);
    },
    stopIntake: async () => undefined,
    stopAccount: async (accountId) => {
      running.delete(accountId);
    },
    decodeIngress: (raw, accountId) => options.decode?.(raw) ?? decodeSaid(raw, id, accountId),
    ack: async (_accountId, update) => {
      acknowledged.push(update);
    },
    send: async (permit) => {
      if (options.send !== undefined) return options.send(permit, sent);
      sent.push(permit.take());
      return { status: 'sent', receipt: { messageId: `${id}-${sent.length}` } };
    },
    receive: async (raw, updateId, accountId = accounts[0] ?? '') =>
      inboxes.get(accountId)?.receive({ raw, updateId }),
    end: (reason = 'end of script', accountId = accounts[0] ?? '') =>
      inboxes.get(accountId)?.ended({ reason }),
  };
}

function decodeSaid(raw: unknown, channel: string, accountId: string): DecodedIngress {
  if (!isSaid(raw)) return { kind: 'undecodable', problem: 'it says nothing', path: '/text' };
  const { text, conversation = `${channel}:ada`, thread, from = 'ada', metadata = {} } = raw;
  return {
    kind: 'message',
    message: {
      channel,
      accountId,
      provider: channel,
      surface: channel,
      from: `${channel}:${from}`,
      sender: { id: from },
      conversationId: conversation,
      ...(thread !== undefined && { threadId: thread }),
      messageId: `m-${text}`,
      content: text,
      attachments: [],
      ...(raw.commandAuthorized !== undefined && { commandAuthorized: raw.commandAuthorized }),
      ...(raw.native === true && { commandSource: 'native' as const }),
      metadata,
    },
  };
}

function isSaid(raw: unknown): raw is Said {
  return typeof raw === 'object' && raw !== null && 'text' in raw && typeof raw.text === 'string';
}
