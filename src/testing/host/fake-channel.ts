import {
  type ApprovedMessage,
  type ChannelInbox,
  type ChannelPlugin,
  checkPermit,
  type DecodedIngress,
  type InboundMessage,
  type InboundUpdate,
  type SendPermit,
  type SendResult,
} from '@sluice/sdk/channel';
import { definedFields } from 'sluice-kernel/internal';

/** A message that a test says in a fake channel. */
export interface Said {
  readonly text: string;
  /** The conversation; by default the one of `ada`. */
  readonly conversation?: string;
  readonly thread?: string;
  /** The id of the writer; `ada` by default. */
  readonly from?: string;
  /** In `startTestHost`: the roles of the writer from now on, in place of those of its option `roles`. `owner` makes an owner. */
  readonly roles?: readonly string[];
  /** The channel has not proven who the writer is. */
  readonly isUnproven?: boolean;
  /** The writer is a program. */
  readonly isBot?: boolean;
  readonly metadata?: Record<string, unknown>;
  /** Further fields of the message, such as `replyTo`. */
  readonly message?: Partial<InboundMessage>;
  /** The channel has proved that the writer may give commands. */
  readonly commandAuthorized?: boolean;
  /** The channel knows the text as a command. */
  readonly native?: boolean;
  /** Instead of the text: the id of the button that is pressed. */
  readonly press?: string;
}

/**
 * The end of one send of a fake channel. `throws`: the send throws, so nobody knows if it went out. `hangs`: it never answers.
 * `lost`: the message goes out, and the answer is lost, so that the channel says `ambiguous`.
 */
type FakeSend = SendResult | 'throws' | 'hangs' | 'lost';

/** A channel in a test's hands: the test says what comes in, and reads what went out. */
export interface FakeChannel extends ChannelPlugin {
  /** The messages that went out, in order. */
  readonly sent: ApprovedMessage[];
  /** The updates that the host has acknowledged, in order. */
  readonly acknowledged: InboundUpdate[];
  /** The accounts that are started and not stopped. */
  readonly running: Set<string>;
  /** Says how the next sends end, in order; each one after them goes out. */
  next(...ends: readonly FakeSend[]): void;
  /** Hands over an update; anything but a `Said` is undecodable. Resolves as `ChannelInbox.receive` does. */
  // biome-ignore lint/suspicious/noConfusingVoidType: as the inbox has it
  receive(raw: unknown, updateId: string, accountId?: string): Promise<void | 'refused'>;
  /** Ends the intake. */
  end(reason?: string, accountId?: string): void;
}

/** The options of a fake channel. By default it has one account, and sends everything. */
export interface FakeChannelOptions {
  /** `fake` by default. */
  readonly id?: string;
  readonly accounts?: readonly string[];
  readonly resendPolicy?: Partial<ChannelPlugin['resendPolicy']>;
  readonly deduplicatesSends?: boolean;
  readonly canWait?: boolean;
  /** Each of several hosts connects it. */
  readonly everyHost?: boolean;
  /** The elements of a message that it shows. */
  readonly interactive?: ChannelPlugin['capabilities']['interactive'];
  /** A fault: what is received after `stopIntake` goes to the host all the same. */
  readonly bringsAfterStop?: boolean;
  /** Answers a send in place of the channel; it takes the permit or not. */
  readonly send?: (permit: SendPermit, sent: ApprovedMessage[]) => Promise<SendResult>;
  readonly startAccount?: (accountId: string) => Promise<void>;
  /** Decodes an update in place of the channel; with nothing the channel decodes it. */
  readonly decode?: (raw: unknown) => DecodedIngress | undefined;
}

/**
 * Makes a channel for a test of a host. It has no provider: what goes out is in `sent`.
 *
 * @example
 * const channel = fakeChannel();
 * channel.next({ status: 'retry-after', retryAfterMs: 1_000 }, 'lost');
 * await using test = await startTestHost({ channel });
 */
export function fakeChannel(options: FakeChannelOptions = {}): FakeChannel {
  const { id = 'fake', accounts = ['default'], bringsAfterStop = false, interactive } = options;
  const { deduplicatesSends = false, canWait = false, everyHost = false } = options;
  const inboxes = new Map<string, ChannelInbox>();
  let host: ChannelInbox | undefined;
  const sent: ApprovedMessage[] = [];
  const ends: FakeSend[] = [];
  const acknowledged: InboundUpdate[] = [];
  const running = new Set<string>();
  const seen = new Set<string>();
  const goesOut = (permit: SendPermit): SendResult => {
    const message = permit.take();
    const { idempotencyKey } = permit;
    if (!(deduplicatesSends && seen.has(idempotencyKey))) sent.push(message);
    seen.add(idempotencyKey);
    return { status: 'sent', receipt: { messageId: `${id}-${sent.length}` } };
  };
  return {
    id,
    accounts,
    sent,
    acknowledged,
    running,
    capabilities: { deduplicatesSends, canWait, everyHost, ...definedFields({ interactive }) },
    resendPolicy: { ambiguous: 'fail', maxAttempts: 3, maxWaitMs: 60_000, ...options.resendPolicy },
    startAccount: async (accountId, inbox) => {
      await options.startAccount?.(accountId);
      host = inbox;
      inboxes.set(accountId, inbox);
      running.add(accountId);
    },
    stopIntake: async (accountId) => {
      if (!bringsAfterStop) inboxes.delete(accountId);
    },
    stopAccount: async (accountId) => {
      running.delete(accountId);
    },
    decodeIngress: (raw, accountId) => options.decode?.(raw) ?? decodeSaid(raw, id, accountId),
    ack: async (_accountId, update) => {
      acknowledged.push(update);
    },
    send: async (permit) => {
      checkPermit(permit, host);
      const end = ends.shift();
      if (end === undefined) return options.send?.(permit, sent) ?? goesOut(permit);
      if (end === 'throws') throw new Error('the connection broke');
      if (end === 'hangs') return new Promise(() => undefined);
      if (end !== 'lost') return end.status === 'sent' ? { ...goesOut(permit), ...end } : end;
      goesOut(permit);
      return { status: 'ambiguous', reason: 'the answer was lost' };
    },
    next: (...added) => ends.push(...added),
    receive: async (raw, updateId, accountId = accounts[0] ?? '') =>
      inboxes.get(accountId)?.receive({ raw, updateId }),
    end: (reason = 'end of script', accountId = accounts[0] ?? '') =>
      inboxes.get(accountId)?.ended({ reason }),
  };
}

function decodeSaid(raw: unknown, channel: string, accountId: string): DecodedIngress {
  if (!isSaid(raw)) return { kind: 'undecodable', problem: 'it says nothing', path: '/text' };
  const { text, conversation = `${channel}:ada`, thread, from = 'ada', metadata = {} } = raw;
  const { isBot, commandAuthorized, native, press } = raw;
  const proof = raw.isUnproven === true ? {} : { senderProof: 'account' as const };
  if (press !== undefined) {
    const pressed = {
      interactionId: `i-${press}`,
      kind: 'button' as const,
      name: press,
      values: [],
    };
    const place = { channel, accountId, conversationId: conversation };
    const at = { ...place, ...definedFields({ threadId: thread }), sender: { id: from } };
    return { kind: 'interaction', interaction: { ...pressed, ...at }, ...proof };
  }
  return {
    kind: 'message',
    ...proof,
    message: {
      channel,
      accountId,
      provider: channel,
      surface: channel,
      from: `${channel}:${from}`,
      sender: { id: from, ...definedFields({ isBot }) },
      conversationId: conversation,
      ...definedFields({ threadId: thread, commandAuthorized }),
      messageId: `m-${text}`,
      content: text,
      attachments: [],
      ...(native === true && { commandSource: 'native' as const }),
      metadata,
      ...raw.message,
    },
  };
}

function isSaid(raw: unknown): raw is Said {
  return typeof raw === 'object' && raw !== null && 'text' in raw && typeof raw.text === 'string';
}
