import type { ChannelInbox, ChannelPlugin } from 'sluice/channel';

/** The message that a channel of Omni tells of: the payload of its `message.received`. */
interface OmniMessage {
  readonly externalId: string;
  readonly chatId: string;
  readonly from: string;
  readonly content: { readonly text?: string };
}

/** A channel of Omni, as far as this bridge uses it. `Context` is its `PluginContext`. */
export interface OmniChannel<Context> {
  readonly id: string;
  initialize(context: Context): Promise<void>;
  connect(instanceId: string, config: never): Promise<void>;
  disconnect(instanceId: string): Promise<void>;
  sendMessage(instanceId: string, message: object): Promise<OmniSent>;
}

interface OmniSent {
  readonly success: boolean;
  readonly messageId?: string;
  readonly error?: string;
  readonly retryable?: boolean;
}

/** The function that takes the place of `eventBus.publish` in the context that a channel of Omni gets. */
type Publish = (type: string, payload: never, about?: { instanceId?: string }) => Promise<void>;

/** Makes a channel of a channel of Omni. Its instances are the accounts, each with its `InstanceConfig`. */
export function fromOmniChannel<Context>(
  omni: OmniChannel<Context>,
  instances: Readonly<Record<string, object>>,
  contextOf: (publish: Publish) => Context,
): ChannelPlugin {
  const inboxes = new Map<string, ChannelInbox>();
  let ready: Promise<void> | undefined;
  const publish: Publish = async (type, payload, about = {}) => {
    const inbox = inboxes.get(about.instanceId ?? '');
    if (type !== 'message.received' || inbox === undefined) return;
    const { externalId } = payload as OmniMessage;
    const taken = await inbox.receive({ raw: payload, updateId: externalId });
    if (taken === 'refused') throw new Error('the host is full: bring it again');
  };
  return {
    id: omni.id,
    capabilities: { threads: true },
    accounts: Object.keys(instances),
    resendPolicy: { ambiguous: 'fail', maxAttempts: 1, maxWaitMs: 0 },
    startAccount: async (accountId, inbox) => {
      inboxes.set(accountId, inbox);
      ready ??= omni.initialize(contextOf(publish));
      await ready;
      await omni.connect(accountId, instances[accountId] as never);
    },
    stopIntake: async (accountId) => void inboxes.delete(accountId),
    stopAccount: (accountId) => omni.disconnect(accountId),
    decodeIngress: (raw, accountId) => {
      const { chatId, from, content, externalId } = Object(raw) as OmniMessage;
      if (typeof content?.text !== 'string') return { kind: 'ignored', reason: 'it has no text' };
      const message = { channel: omni.id, accountId, from, conversationId: chatId };
      return {
        kind: 'message',
        message: {
          ...{ ...message, messageId: externalId, content: content.text },
          ...{ attachments: [], metadata: {} },
        },
      };
    },
    send: async (permit) => {
      const { accountId, to, content, threadId, replyToId } = permit.take();
      const message = {
        to,
        threadId,
        replyTo: replyToId,
        content: { type: 'text', text: content },
      };
      const sent = await omni.sendMessage(accountId, message);
      const { messageId, error: reason = 'the channel of Omni has not sent it' } = sent;
      if (sent.success) return { status: 'sent', receipt: { ...(messageId && { messageId }) } };
      return { status: sent.retryable === true ? 'ambiguous' : 'rejected', reason };
    },
  };
}
