import { randomUUID } from 'node:crypto';
import type { PluginHost } from '@sluice/host';
import type { ApprovedMessage, ChannelInbox, SendResult, UpdateEnd } from '@sluice/sdk/channel';
import {
  type Deferred,
  deferred,
  definedFields,
  type Fields,
  fieldsOf,
  oneLine,
} from 'sluice-kernel/internal';
import { textOf } from '../plugin/channel/settings.js';
import type { LegacyInbound, LegacyReplyKind } from '../plugin/shape/intake.js';
import type { LegacyReply } from '../plugin/shape/shapes.js';
import { decodeContext } from './decode-context.js';

/** A message whose dispatcher waits for its end. */
interface Held {
  readonly inbound: LegacyInbound;
  readonly accountId: string;
  /** The address that the plugin's own code delivers to. */
  readonly address: string | undefined;
  readonly threadId: string | undefined;
  readonly ended: Deferred<void>;
  /** Settles if nobody takes it any more: the host may never have begun to take in. */
  readonly left: Deferred<false>;
  /** Settles last: it tells whether the host has taken the message in. */
  readonly taken: Deferred<boolean>;
}

/** The id that OpenClaw knows a message by, so that one that comes twice is handled once. One without an id is new each time. */
export function updateIdOf(context: Fields): string {
  const { MessageSid: id, OriginatingTo, To, From, SessionKey, MessageThreadId } = context;
  if (id === undefined || id === null || id === '') return randomUUID();
  return JSON.stringify(
    [OriginatingTo ?? To ?? From, SessionKey, MessageThreadId, id].map((one) => one ?? null),
  );
}

/** The messages of a channel that its plugin has handed over and that have not ended here. */
export class ActiveMessages {
  readonly #channel: string;
  readonly #config: Fields;
  readonly #eventIdOf: PluginHost['eventIdOf'];
  readonly #held = new Map<string, Held>();

  constructor(channel: string, config: Fields, eventIdOf: PluginHost['eventIdOf']) {
    this.#channel = channel;
    this.#config = config;
    this.#eventIdOf = eventIdOf;
  }

  /**
   * Hands a message to the host, and waits for its end.
   *
   * @param inbox of the account; nothing where it takes nothing in.
   * @returns whether the host has taken it in.
   */
  async take(inbound: LegacyInbound, accountId: string, inbox: ChannelInbox): Promise<boolean> {
    const updateId = updateIdOf(inbound.context);
    const eventId = this.#eventIdOf(this.#channel, accountId, updateId);
    const before = this.#held.get(eventId);
    if (before !== undefined) return before.taken.promise; // it came twice at once: the first is answered
    const decoded = decodeContext(this.#channel, accountId, inbound.context, this.#config);
    const { conversationId: address, threadId } = 'message' in decoded ? decoded.message : {};
    const held: Held = {
      ...{ inbound, accountId, address, ended: deferred(), left: deferred(), taken: deferred() },
      threadId: threadId === undefined ? undefined : String(threadId),
    };
    this.#held.set(eventId, held);
    let isTaken = false;
    try {
      const receive = async (): Promise<boolean> =>
        (await inbox.receive({ raw: inbound.context, updateId })) !== 'refused';
      isTaken = await Promise.race([receive(), held.left.promise]);
      if (isTaken) {
        await inbound.onTaken();
        await held.ended.promise;
      }
      return isTaken;
    } finally {
      this.#held.delete(eventId);
      held.taken.resolve(isTaken);
    }
  }

  /** An update has ended: its dispatcher goes on. */
  end(accountId: string, { updateId }: UpdateEnd): void {
    this.#held.get(this.#eventIdOf(this.#channel, accountId, updateId ?? ''))?.ended.resolve();
  }

  /** Lets all dispatchers of an account go on: nobody answers them any more. */
  endAll(accountId: string): void {
    for (const { accountId: of, ended, left } of this.#held.values()) {
      if (of !== accountId) continue;
      ended.resolve();
      left.resolve(false);
    }
  }

  /** The message that a send answers, if its own code can deliver it: one that goes elsewhere it cannot. */
  answeredBy(message: ApprovedMessage, correlationId: string | undefined): Held | undefined {
    const held = this.#held.get(correlationId ?? '');
    const { kind, channel, accountId, to, threadId } = message;
    if (held === undefined || kind === 'unprompted') return undefined;
    if (channel !== this.#channel || accountId !== held.accountId) return undefined;
    const thread = threadId === undefined ? undefined : String(threadId);
    return to === held.address && thread === held.threadId ? held : undefined;
  }

  /** Has the plugin deliver a reply. An error does not tell whether it is out. */
  async deliver(
    { inbound }: Held,
    message: ApprovedMessage,
    replyToId: string | undefined,
  ): Promise<SendResult> {
    try {
      const kind = kinds[message.kind] ?? 'final';
      const told = await inbound.deliver(replyOf(message, replyToId), kind);
      if (told['visibleReplySent'] === false)
        return { status: 'rejected', reason: 'its channel has shown nothing of it' };
      const ids = [told['messageIds']].flat().map(textOf); // of one delivery, in parts
      const messageId = textOf(fieldsOf(told['receipt'])['primaryPlatformMessageId']) ?? ids[0];
      return {
        status: 'sent',
        receipt: { conversationId: message.to, ...definedFields({ messageId }) },
      };
    } catch (error) {
      return { status: 'ambiguous', reason: oneLine(error) };
    }
  }
}

const kinds: Partial<Record<ApprovedMessage['kind'], LegacyReplyKind>> = {
  block: 'block',
  reasoning: 'block',
  'tool-output': 'tool',
};

function replyOf(message: ApprovedMessage, replyToId: string | undefined): LegacyReply {
  const { content, attachments, metadata, kind } = message;
  const mediaUrls = attachments.flatMap(({ url, path }) => url ?? path ?? []);
  const channelData = metadata['channelData'] as Fields | undefined; // as legacy-command writes it
  return {
    text: content,
    ...(mediaUrls[0] !== undefined && { mediaUrl: mediaUrls[0], mediaUrls }),
    ...(attachments.some(({ asVoice }) => asVoice === true) && { audioAsVoice: true }),
    ...(kind === 'error' && { isError: true }),
    ...(kind === 'reasoning' && { isReasoning: true }),
    ...definedFields({ channelData, replyToId }),
  };
}
