import { Trail, whyNot } from '../../agent/index.js';
import type { DecodedIngress, InboundUpdate } from '../../channel/index.js';
import { definedFields, type Outcome, oneLine } from '../../kernel/index.js';
import { tellFailure } from '../egress/reply.js';
import { eventIdOf } from '../journal/event-id.js';
import { type MessageEnd, stopped } from '../journal/message-end.js';
import { noPlace, type Place } from '../lanes/place.js';
import type { HostParts } from '../parts/parts.js';
import { refOf, refsOf } from '../parts/refs.js';
import type { RunningAccount } from '../provided/accounts.js';
import { parseCommandLine } from '../provided/commands.js';
import { inSession } from '../session/in-session.js';
import {
  conversationOf,
  type RoutedMessage,
  type Routing,
  routeMessage,
} from '../session/routing.js';
import { answerMessage } from '../turn/answer.js';
import { runChatCommand } from './chat.js';
import { decodeUpdate, laneOf, runsAtOnce } from './decode-update.js';
import { guarded } from './guarded.js';
import { carryInteraction } from './interactions.js';
import { type Fate, fateOf, roomFor } from './when-full.js';

type Routed = Extract<Routing, { status: 'routed' }>;
type Ending = Pick<MessageEnd, 'status' | 'reason'> &
  Partial<Pick<MessageEnd, 'sends' | 'agentId' | 'sessionKey'>>;

/** An update on its way. */
export interface Incoming {
  readonly account: RunningAccount;
  readonly update: InboundUpdate;
  readonly decoded: DecodedIngress;
  /** Its first dispatch. */
  readonly received: Promise<Outcome<'ingress.received'>>;
  /** Its place among those that run. */
  readonly place: Place;
}

/**
 * Takes an update in, and carries it to its end in the lane of its conversation. The place in the lane is taken
 * before this returns its promise, so that order is kept; the promise resolves when the channel may bring another: at
 * once, unless it is one that waits. Never rejects.
 */
export function receiveUpdate(
  parts: HostParts,
  account: RunningAccount,
  update: InboundUpdate,
): Promise<void> {
  parts.counts.received++;
  const decoded = decodeUpdate(parts, account, update);
  const lane = laneOf(parts, account, decoded);
  const { channel, accountId } = account;
  const id = eventIdOf(channel.id, accountId, update.updateId);
  if (parts.inHand.has(id)) {
    // its provider brings it again, a reload has connected its account anew: it is acknowledged at its end
    parts.counts.duplicates++;
    return roomFor(parts, account, lane);
  }
  parts.inHand.add(id);
  const fate = fateOf(parts, account, lane);
  const received = tellReceived(parts, account, update);
  received.catch(() => undefined); // it is awaited when the lane is free; until then nobody watches it
  const end = async (place: Place): Promise<void> => {
    const incoming = { account, update, decoded, received, place };
    const message = await carryToEnd(parts, incoming, fate);
    parts.inHand.delete(id);
    // A message that the host had no time for is not acknowledged: its provider may bring it again.
    if (!isLeftBehind(parts, message)) await acknowledge(parts, account, update);
    tellMessageEnd(parts, message);
  };
  if (fate === 'dropped') return end(noPlace);
  void runInLane(parts, account, lane, fate, end);
  return roomFor(parts, account, lane);
}

/** Does the work of an update in its lane. The answer to a sender who is refused goes out in a lane of its own. */
export function runInLane(
  { conversationLanes }: HostParts,
  { channel, accountId }: RunningAccount,
  lane: string,
  fate: Fate,
  work: (place: Place) => Promise<void>,
): Promise<void> {
  if (fate === 'handled')
    return conversationLanes.run(lane, work, { runsAtOnce: runsAtOnce(lane) });
  const refusals = JSON.stringify(['refused', channel.id, accountId]);
  return conversationLanes.run(refusals, work, { runsAtOnce: true });
}

/** Dispatches `ingress.received`, under the update's own id where it has one. */
export function tellReceived(
  parts: HostParts,
  { channel, accountId }: RunningAccount,
  update: InboundUpdate,
  eventId?: string,
): Incoming['received'] {
  return parts.kernel.dispatch(
    'ingress.received',
    {
      channel: channel.id,
      accountId,
      receivedAtMs: update.receivedAtMs ?? parts.clock.now(),
      ...definedFields({ updateId: update.updateId }),
      raw: update.raw,
    },
    { accountRef: refOf(channel.id, accountId), ...definedFields({ eventId }) },
  );
}

/**
 * Carries an update through every stage: routing, its command or its turn, and the sends. Never rejects: whatever happens to
 * it, there is an end.
 */
export async function carryToEnd(
  parts: HostParts,
  { account, update, decoded, received, place }: Incoming,
  fate: Fate = 'handled',
): Promise<MessageEnd> {
  let correlationId: string | undefined;
  let ending: Ending;
  try {
    const first = await received;
    correlationId = first.event.correlationId;
    if (parts.signal.aborted) ending = stopped;
    else if (fate === 'dropped') ending = full;
    else ending = await carry(parts, account, first, decoded, { place, fate });
  } catch (error) {
    ending = { status: 'failed', reason: oneLine(error) };
    const about = { channel: account.channel.id, eventId: correlationId, error };
    if (place.isLost === true)
      parts.logger.debug('a message could not go on, and is taken up again later', about);
    else parts.logger.error('a message failed', about);
  }
  return {
    channel: account.channel.id,
    accountId: account.accountId,
    ...definedFields({ updateId: update.updateId, correlationId }),
    sends: [],
    ...ending,
  };
}

const full = {
  status: 'failed',
  reason: 'it was not taken in: too many messages wait',
} as const satisfies Ending;

/** Tells whether the host had no time for a message: it has not come to an end. */
export function isLeftBehind(parts: HostParts, end: MessageEnd): boolean {
  return end.status === 'aborted' && parts.signal.aborted;
}

/** Tells whoever made the host how a message ended. Never throws. @param level of its line in the log. */
export function tellMessageEnd(
  parts: HostParts,
  end: MessageEnd,
  level: 'info' | 'debug' = 'info',
): void {
  const { status, channel, accountId, agentId, sessionKey, reason, correlationId } = end;
  parts.logger[level](`a message has ended: ${status}`, {
    channel,
    accountId,
    ...definedFields({ eventId: correlationId, agentId, sessionKey, detail: reason }),
  });
  try {
    parts.options.onMessageEnd?.(end);
  } catch (error) {
    parts.logger.error('onMessageEnd threw', { error });
  }
}

async function carry(
  parts: HostParts,
  account: RunningAccount,
  received: Outcome<'ingress.received'>,
  decoded: DecodedIngress,
  { place, fate }: { readonly place: Place; readonly fate: Fate },
): Promise<Ending> {
  const channel = account.channel.id;
  if (decoded.kind === 'ignored') {
    parts.logger.debug('an update was ignored', { channel, detail: decoded.reason });
    return { status: 'ignored', reason: decoded.reason };
  }
  if (decoded.kind === 'undecodable') {
    const reason = `${decoded.problem}${decoded.path === undefined ? '' : ` (at ${decoded.path})`}`;
    parts.logger.warn('an update could not be decoded', {
      channel,
      accountId: account.accountId,
      eventId: received.event.eventId,
      ...definedFields({ path: decoded.path }),
      detail: reason,
    });
    return { status: 'undecodable', reason };
  }
  if (decoded.kind !== 'message')
    return fate === 'refused' ? full : carryInteraction(parts, received, decoded, place);
  const trail = new Trail(
    parts.kernel,
    received,
    refsOf(decoded.message.channel, conversationOf(decoded.message), decoded.message),
  );
  const normalized = await trail.dispatch('ingress.normalized', decoded.message, {
    signal: parts.signal,
  });
  if (parts.signal.aborted) return stopped;
  if (normalized.status !== 'passed') {
    const reason = `ingress.normalized ${whyNot(normalized)}`;
    parts.logger.error('a message failed at ingress.normalized', { channel, detail: reason });
    return { status: 'failed', reason };
  }
  const { raw: _raw, config: _config, ...message } = normalized.payload;
  const routing = await routeMessage(parts, trail, message, decoded.route);
  if (parts.signal.aborted) return stopped;
  if (routing.status === 'failed') {
    const failure = { code: 'routing', message: routing.reason } as const;
    return { ...routing, sends: await tellFailure(parts, trail, message, failure) };
  }
  if (routing.status === 'cancelled') {
    parts.logger.info('a message was cancelled', { channel, detail: routing.reason });
    return routing;
  }
  const { agent, sessionKey } = routing;
  const ending =
    fate === 'refused'
      ? {
          ...full,
          sends: await tellFailure(parts, trail, message, { code: 'busy', message: full.reason }),
        }
      : await answerOrRun(parts, trail, routing, message, place);
  return { ...ending, agentId: agent.id, sessionKey };
}

async function answerOrRun(
  parts: HostParts,
  trail: Trail,
  routing: Routed,
  message: RoutedMessage,
  place: Place,
): Promise<Ending> {
  const { agent, sessionKey } = routing;
  const line = parseCommandLine(message.content);
  if (line === undefined)
    return inSession(parts, place, { sessionKey, agent }, () =>
      guarded(parts, trail, message, () => answerMessage(parts, trail, routing, message)),
    );
  const run = () =>
    guarded(parts, trail, message, async () => {
      const by = { agentId: agent.id, sessionKey };
      return (await runChatCommand(parts, trail, by, message, line)).ending;
    });
  if (parts.commands.get(line.name)?.runsAtOnce === true) return run();
  return inSession(parts, place, { sessionKey }, run);
}

/** Tells the provider that an update needs not come again. Never rejects. */
export async function acknowledge(
  parts: HostParts,
  account: RunningAccount,
  update: InboundUpdate,
): Promise<void> {
  const { accountId } = account;
  // a reload may have put another channel in its place while the update was handled
  const { channel } = parts.accounts.find(account.channel.id, accountId) ?? account;
  try {
    await channel.ack?.(accountId, update);
  } catch (error) {
    parts.logger.warn('an update was not acknowledged', { channel: channel.id, error });
  }
}
