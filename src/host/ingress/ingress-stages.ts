import { type Trail, whyNot } from '@sluice/agent';
import type { InboundMessage } from '@sluice/sdk/channel';
import { definedFields, type Outcome } from 'sluice-kernel/internal';
import { endFailed } from '../egress/reply.js';
import type { FencedParts } from '../parts/parts.js';
import { refOf, refsOf } from '../parts/refs.js';
import { conversationOf, type RoutedMessage } from '../session/routing.js';
import { promptOf } from '../turn/answer.js';
import { endUpdate } from './end-update.js';
import { principalOf } from './principal.js';
import { namesOf, type ReceivedUpdate } from './received-update.js';

/** A message as `ingress.normalized` has left it, or the reason why it failed there. */
type Normalized = RoutedMessage | { readonly failed: string };

/** Dispatches `ingress.received`, under the id of the update. @param correlationId of the update that it joined. */
export function reportReceived(
  parts: FencedParts,
  received: ReceivedUpdate,
  correlationId?: string,
): Promise<Outcome<'ingress.received'>> {
  const { eventId, account, update, receivedAtMs, decoded } = received;
  const principal = principalOf(parts, account, decoded);
  return parts.kernel.dispatch(
    'ingress.received',
    { receivedAtMs, raw: update.raw, ...namesOf(received) },
    {
      accountRef: refOf(account.channel.id, account.accountId),
      eventId,
      ...definedFields({ principal, correlationId }),
    },
  );
}

/** Dispatches `ingress.normalized` for a message. */
export function reportNormalized(
  { signal }: FencedParts,
  trail: Trail,
  message: InboundMessage,
): Promise<Outcome<'ingress.normalized'>> | undefined {
  return trail.tell('ingress.normalized', () => message, signal);
}

/** The message that `ingress.normalized` has left. */
export function normalizedBy(
  outcome: Outcome<'ingress.normalized'> | undefined,
  decoded: InboundMessage,
): Normalized {
  if (outcome !== undefined && outcome.status !== 'passed')
    return { failed: `ingress.normalized ${whyNot(outcome)}` };
  const { raw: _raw, config: _config, promptText, ...message } = outcome?.payload ?? decoded;
  const { content, transcript } = decoded;
  // a text for models that was made of other words holds no more
  const isOld = promptText === decoded.promptText;
  const isStale = isOld && (content !== message.content || transcript !== message.transcript);
  return promptText === undefined || isStale ? message : { ...message, promptText };
}

/**
 * Makes one message of a leader and of those that joined it: each passes the stages of ingress on the trail of the leader. One
 * that fails there ends by itself (durability §10.6).
 */
export async function mergeBatch(
  parts: FencedParts,
  trail: Trail,
  leader: ReceivedUpdate,
  first: RoutedMessage,
): Promise<RoutedMessage> {
  const { joined = new Set() } = leader;
  const all = [first];
  for (const received of joined) {
    if (parts.signal.aborted) break;
    await reportReceived(parts, received, leader.eventId);
    const { last } = trail;
    const message = await normalizePart(parts, trail, received);
    if (!('failed' in message)) {
      all.push(message);
      continue;
    }
    trail.follow(last);
    if (parts.signal.aborted) break; // it is handled again
    joined.delete(received);
    const named = { ...namesOf(received), correlationId: received.eventId };
    const reason = `${message.failed}; it had joined ${leader.eventId}`;
    const { decoded } = received;
    const end =
      decoded.kind === 'message'
        ? await endFailed(parts, trail, decoded.message, { code: 'stage-failed', message: reason })
        : ({ status: 'failed', reason, sends: [] } as const);
    await endUpdate(parts, received, { ...named, ...end });
  }
  trail.carry(refsOf(first.channel, conversationOf(first), first));
  return all.length === 1 ? first : joinedMessage(all, first);
}

async function normalizePart(
  parts: FencedParts,
  trail: Trail,
  { decoded }: ReceivedUpdate,
): Promise<Normalized> {
  if (decoded.kind !== 'message') return { failed: `it is decoded as ${decoded.kind} now` };
  const { message } = decoded;
  trail.carry(refsOf(message.channel, conversationOf(message), message));
  return normalizedBy(await reportNormalized(parts, trail, message), message);
}

/** The things that were shared with a message, and itself if it was forwarded: its text stands among those of the whole. */
function sharedOf({ forwardedFrom: by, content: text, shared = [] }: RoutedMessage) {
  if (by === undefined) return shared;
  const from = definedFields({ from: by.sender?.name ?? by.channelName });
  return [{ kind: 'message' as const, title: 'forwarded', ...from, text }, ...shared];
}

/** Makes one message of several, in order. */
function joinedMessage(all: readonly RoutedMessage[], first: RoutedMessage): RoutedMessage {
  const texts = (of: (one: RoutedMessage) => string | undefined): string =>
    all
      .map((one) => of(one) ?? '')
      .filter((text) => text.trim() !== '')
      .join('\n\n');
  const has = (of: (one: RoutedMessage) => unknown): boolean =>
    all.some((one) => of(one) !== undefined);
  // a transcript stands where its message does, and so do texts made for models
  const isPrompted = has(({ promptText, transcript }) => promptText ?? transcript);
  const { forwardedFrom: _, ...rest } = first;
  const shared = all.flatMap(sharedOf);
  return {
    ...rest,
    content: texts(({ content }) => content),
    attachments: all.flatMap(({ attachments }) => attachments),
    metadata: Object.assign({}, ...all.map(({ metadata }) => metadata).reverse()),
    ...definedFields({
      body: has(({ body }) => body) ? texts(({ body, content }) => body ?? content) : undefined,
      promptText: isPrompted ? texts(promptOf) : undefined,
      transcript: has(({ transcript }) => transcript)
        ? texts(({ transcript }) => transcript)
        : undefined,
      replyTo: all.find(({ replyTo }) => replyTo !== undefined)?.replyTo,
      shared: shared.length > 0 ? shared : undefined,
      wasMentioned: all.some(({ wasMentioned }) => wasMentioned === true)
        ? true
        : first.wasMentioned,
    }),
  };
}
