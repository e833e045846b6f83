import { Trail } from '@sluice/agent';
import type { MessageEnd } from '@sluice/journal';
import { type EarlyEnding, fullReason, stopped } from '@sluice/journal/internal';
import { definedFields, oneLine } from 'sluice-kernel/internal';
import { endUnrouted, guarded } from '../egress/cancel-reply.js';
import { endFailed } from '../egress/reply.js';
import { runJob } from '../jobs/run-job.js';
import type { Place } from '../lanes/slots.js';
import type { FencedParts } from '../parts/parts.js';
import { refsOf } from '../parts/refs.js';
import { parseCommandLine } from '../provided/commands.js';
import { inSession } from '../session/in-session.js';
import {
  conversationOf,
  type RoutedMessage,
  type Routing,
  routeMessage,
} from '../session/routing.js';
import { answerMessage } from '../turn/answer.js';
import { takeAnswer } from './answers.js';
import { mergeBatch, normalizedBy, reportNormalized, reportReceived } from './ingress-stages.js';
import { carryInteraction } from './interactions.js';
import { namesOf, type ReceivedUpdate } from './received-update.js';
import { runInSession } from './run-chat-command.js';
import type { Fate } from './when-full.js';

/**
 * Carries an update through every stage: routing, its command or its turn, and the sends. Never rejects: whatever happens to
 * it, there is an end.
 */
export async function carryToEnd(
  parts: FencedParts,
  received: ReceivedUpdate,
  place: Place,
  fate: Fate = 'handled',
): Promise<MessageEnd> {
  const { eventId, account } = received;
  const channel = account.channel.id;
  let ending: EarlyEnding;
  try {
    ending = await carry(parts, received, place, fate);
  } catch (error) {
    ending = { status: 'failed', reason: oneLine(error) };
    const about = { channel, eventId, error };
    if (parts.suspension?.by(error)) parts.logger.debug('a message could not go on', about);
    else parts.logger.error('a message failed', about);
  }
  return { sends: [], correlationId: eventId, ...namesOf(received), ...ending };
}

const full = { status: 'failed', reason: fullReason } as const satisfies EarlyEnding;

async function carry(
  parts: FencedParts,
  taken: ReceivedUpdate,
  place: Place,
  fate: Fate,
): Promise<EarlyEnding> {
  if (parts.signal.aborted) return stopped;
  const received = await reportReceived(parts, taken);
  if (parts.signal.aborted) return stopped;
  if (fate === 'dropped') return full;
  const { account, decoded } = taken;
  const channel = account.channel.id;
  if (decoded.kind === 'job') {
    const { job } = decoded;
    if (fate === 'refused') return full;
    return runJob(parts, { ...taken, job }, received, place);
  }
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
    return fate === 'refused'
      ? full
      : carryInteraction(parts, { received, account }, decoded, place);
  const trail = new Trail(
    parts.kernel,
    received,
    refsOf(decoded.message.channel, conversationOf(decoded.message), decoded.message),
  );
  const normalizing = reportNormalized(parts, trail, decoded.message);
  const first = normalizedBy(normalizing && (await normalizing), decoded.message);
  if (parts.signal.aborted) return stopped;
  if ('failed' in first) {
    const failure = { code: 'stage-failed', message: first.failed } as const;
    return endFailed(parts, trail, decoded.message, failure);
  }
  const { joined } = taken;
  const message = joined === undefined ? first : await mergeBatch(parts, trail, taken, first);
  if (parts.signal.aborted || taken.isStopped === true) return stopped;
  const mayAnswer = joined === undefined && fate === 'handled' && !parts.questions.areNone;
  const answer = mayAnswer ? await takeAnswer(parts, trail, taken, message) : undefined;
  if (answer !== undefined) return answer;
  const routing = await routeMessage(parts, trail, message, decoded.route);
  if (parts.signal.aborted) return stopped;
  if (routing.status !== 'routed') return endUnrouted(parts, trail, message, routing);
  const { agent, sessionKey } = routing;
  const ending =
    fate === 'refused'
      ? await endFailed(parts, trail, message, { code: 'busy', message: full.reason })
      : await answerOrRun(parts, trail, routing, message, place, joined !== undefined);
  return { agentId: agent.id, sessionKey, ...ending };
}

function answerOrRun(
  parts: FencedParts,
  trail: Trail,
  routing: Extract<Routing, { status: 'routed' }>,
  message: RoutedMessage,
  place: Place,
  isJoined: boolean,
): Promise<EarlyEnding> {
  const { agent, sessionKey } = routing;
  const line = isJoined ? undefined : parseCommandLine(message.content);
  if (line !== undefined)
    return runInSession(parts, trail, routing, message, line, place).then(({ ending }) => ending);
  const eventId = trail.correlationId ?? '';
  return inSession(parts, place, { eventId, sessionKey, agent }, (held) =>
    guarded(parts, trail, message, () => answerMessage(parts, trail, routing, message, held)),
  );
}
