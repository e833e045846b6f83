import { Trail, whyNot } from '../agent/index.js';
import type { DecodedIngress, InboundUpdate } from '../channel/index.js';
import { type Outcome, oneLine } from '../kernel/index.js';
import type { RunningAccount } from './accounts.js';
import { answerMessage } from './answer.js';
import { runChatCommand } from './chat.js';
import { parseCommandLine } from './commands.js';
import { guarded } from './guarded.js';
import { carryInteraction, checkInteraction } from './interactions.js';
import { type MessageEnd, stopped } from './message-end.js';
import type { HostParts } from './parts.js';
import { refOf, refsOf } from './refs.js';
import { tellFailure } from './reply.js';
import { conversationOf, type RoutedMessage, type Routing, routeMessage } from './routing.js';

type Routed = Extract<Routing, { status: 'routed' }>;
type Ending = Pick<MessageEnd, 'status' | 'reason'> &
  Partial<Pick<MessageEnd, 'sends' | 'agentId' | 'sessionKey'>>;

/**
 * Takes an update in, and carries it to its end in the lane of its conversation. The place in the lane is taken
 * before this returns its promise, so that order is kept; the promise resolves when the lane has room for another.
 * Never rejects.
 */
export function receiveUpdate(
  parts: HostParts,
  account: RunningAccount,
  update: InboundUpdate,
): Promise<void> {
  const { channel, accountId } = account;
  const received = parts.kernel.dispatch(
    'ingress.received',
    {
      channel: channel.id,
      accountId,
      receivedAtMs: update.receivedAtMs ?? parts.clock.now(),
      ...(update.updateId !== undefined && { updateId: update.updateId }),
      raw: update.raw,
    },
    { accountRef: refOf(channel.id, accountId) },
  );
  received.catch(() => undefined); // it is awaited when the lane is free; until then nobody watches it
  const decoded = decode(parts, account, update);
  const lane = laneOf(parts, account, decoded);
  void parts.conversationLanes.run(lane, () => toItsEnd(parts, account, update, received, decoded));
  return parts.conversationLanes.room(lane);
}

/** Never rejects: whatever happens to a message, its end is told, once. */
async function toItsEnd(
  parts: HostParts,
  account: RunningAccount,
  update: InboundUpdate,
  received: Promise<Outcome<'ingress.received'>>,
  decoded: DecodedIngress,
): Promise<void> {
  let correlationId: string | undefined;
  let ending: Ending;
  try {
    const first = await received;
    correlationId = first.event.correlationId;
    ending = await carry(parts, account, first, decoded);
  } catch (error) {
    ending = { status: 'failed', reason: oneLine(error) };
    parts.logger.error('a message failed', {
      channel: account.channel.id,
      eventId: correlationId,
      error,
    });
  }
  const end: MessageEnd = {
    channel: account.channel.id,
    accountId: account.accountId,
    ...(update.updateId !== undefined && { updateId: update.updateId }),
    ...(correlationId !== undefined && { correlationId }),
    sends: [],
    ...ending,
  };
  // A message that the host had no time for is not acknowledged: its provider may bring it again.
  if (!(end.status === 'aborted' && parts.signal.aborted))
    await acknowledge(parts, account, update);
  const { status, channel, accountId, agentId, sessionKey, reason } = end;
  parts.logger.info(`a message has ended: ${status}`, {
    channel,
    accountId,
    ...(correlationId !== undefined && { eventId: correlationId }),
    ...(agentId !== undefined && { agentId }),
    ...(sessionKey !== undefined && { sessionKey }),
    ...(reason !== undefined && { detail: reason }),
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
): Promise<Ending> {
  const channel = account.channel.id;
  if (decoded.kind === 'ignored') {
    parts.logger.debug('an update was ignored', { channel, detail: decoded.reason });
    return { status: 'ignored', reason: decoded.reason };
  }
  if (decoded.kind === 'undecodable') {
    const reason = `${decoded.problem}${decoded.path === undefined ? '' : ` (at ${decoded.path})`}`;
    parts.logger.warn('an update could not be decoded', { channel, detail: reason });
    return { status: 'undecodable', reason };
  }
  if (decoded.kind !== 'message') return carryInteraction(parts, received, decoded);
  const trail = new Trail(
    parts.kernel,
    received as unknown as Outcome,
    refsOf(decoded.message.channel, conversationOf(decoded.message), decoded.message),
  ); // of a narrower family
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
    const failure = { code: 'routing', message: routing.reason };
    return { ...routing, sends: await tellFailure(parts, trail, message, failure) };
  }
  if (routing.status === 'cancelled') {
    parts.logger.info('a message was cancelled', { channel, detail: routing.reason });
    return routing;
  }
  const { agent, sessionKey } = routing;
  const ending = await answerOrRun(parts, trail, routing, message);
  return { ...ending, agentId: agent.id, sessionKey };
}

async function answerOrRun(
  parts: HostParts,
  trail: Trail,
  routing: Routed,
  message: RoutedMessage,
): Promise<Ending> {
  const { agent, sessionKey } = routing;
  const line = parseCommandLine(message.content);
  if (line === undefined)
    return parts.sessionLanes.run(sessionKey, () =>
      guarded(parts, trail, message, () => answerMessage(parts, trail, routing, message)),
    );
  const run = () =>
    guarded(parts, trail, message, async () => {
      const by = { agentId: agent.id, sessionKey };
      return (await runChatCommand(parts, trail, by, message, line)).ending;
    });
  if (parts.commands.get(line.name)?.runsAtOnce === true) return run();
  return parts.sessionLanes.run(sessionKey, run);
}

function decode(parts: HostParts, account: RunningAccount, update: InboundUpdate): DecodedIngress {
  try {
    const decoded = account.channel.decodeIngress(update.raw, account.accountId);
    // From outside: checked here, once, so that every stage may trust its types.
    if (decoded.kind === 'command' || decoded.kind === 'interaction')
      return checkInteraction(parts.kernel, decoded, update.raw);
    if (decoded.kind !== 'message') return decoded;
    const checked = { ...decoded.message, raw: update.raw };
    return { ...decoded, message: parts.kernel.parsePayload('ingress.normalized', checked) };
  } catch (error) {
    return { kind: 'undecodable', problem: oneLine(error) };
  }
}

/** A conversation's lane; commands that are about the running turn have one beside it. */
function laneOf(parts: HostParts, account: RunningAccount, decoded: DecodedIngress): string {
  const lane = [account.channel.id, account.accountId];
  if (decoded.kind === 'interaction') {
    const { conversationId = '', threadId = '' } = decoded.interaction;
    // A press does not wait for the turn that runs: it may be about that turn.
    return JSON.stringify([...lane, conversationId, String(threadId), 'interaction']);
  }
  if (decoded.kind !== 'message' && decoded.kind !== 'command') return JSON.stringify(lane);
  const { message } = decoded;
  lane.push(conversationOf(message), String(message.threadId ?? ''));
  const command = parseCommandLine(message.content);
  if (command !== undefined && parts.commands.get(command.name)?.runsAtOnce === true)
    lane.push('at once');
  return JSON.stringify(lane);
}

async function acknowledge(
  parts: HostParts,
  { channel, accountId }: RunningAccount,
  update: InboundUpdate,
): Promise<void> {
  try {
    await channel.ack?.(accountId, update);
  } catch (error) {
    parts.logger.warn('an update was not acknowledged', { channel: channel.id, error });
  }
}
