import { isDeepStrictEqual } from 'node:util';
import { type Trail, whyNot } from '@sluice/agent';
import type { SendReport } from '@sluice/journal';
import type { SubagentAnswer } from '@sluice/sdk/stream';
import type { StopSignal } from '@sluice/sdk/stream/internal';
import { definedFields, type Outcome, type PayloadOf } from 'sluice-kernel/internal';
import { failedReport } from '../egress/end-send.js';
import { addressOf, type Reply, type ReplyAddress, replyTo } from '../egress/reply.js';
import type { FencedParts } from '../parts/parts.js';
import type { RoutedMessage } from '../session/routing.js';
import { mayStream } from '../streaming/may-stream.js';
import { StreamedReply } from '../streaming/streamed-reply.js';

/** The sink of the replies of a turn. */
export interface ReplySink {
  /** Sends a reply whole. */
  send(reply: Reply): Promise<readonly SendReport[] | SendReport>;
  /** Returns whether a reply may be seen before it is whole. */
  mayGrow(): boolean;
  /** Begins a reply that is shown while it grows, once `after` has settled. */
  grow(kind: 'block' | 'reasoning', after: Promise<unknown>): StreamedReply;
  /** The sink for what is said of the answers of subagents, which may go somewhere else. */
  delivering(answers: readonly SubagentAnswer[]): ReplySink;
}

/** Sends what a turn says back to where its message came from. */
export function replySink(
  parts: FencedParts,
  trail: Trail,
  message: RoutedMessage,
  run: Pick<Reply, 'agentId' | 'sessionKey' | 'sessionId' | 'runId'>,
  signal: StopSignal,
): ReplySink {
  const address = Object.freeze({ ...addressOf(message), ...run });
  const sink: ReplySink = {
    send: (reply) => replyTo(parts, trail, message, { ...run, ...reply }, signal),
    delivering: (answers) => ({
      ...sink,
      mayGrow: () => false, // who decides where it goes is asked when it is whole
      send: deliverTo(parts, trail, message, answers, signal, run),
    }),
    mayGrow: () =>
      !signal.aborted &&
      mayStream(parts, { ...address, kind: 'block' }) &&
      // what is out already is not shown again: whether it is, its whole text tells (durability §7.4)
      !parts.outbox.hasSentBefore(trail.correlationId),
    grow: (kind, after) =>
      new StreamedReply({ parts, trail, message: { ...address, kind }, signal, after }),
  };
  return sink;
}

type Place = PayloadOf<'subagent.delivery.resolved'>['target'];

/** The address of a subagent's answer, or the outcome that says that it goes nowhere. */
type Delivery = { readonly to: ReplyAddress } | { readonly refused: Outcome };

/**
 * Sends what is said of the answers of subagents that ran in the background: for each of them
 * `subagent.delivery.resolving`, then `subagent.delivery.resolved`, once, when the first text is to go out (spec §16.17).
 * A text goes once to each place that was found; without a selection that is where the request came from.
 */
function deliverTo(
  parts: FencedParts,
  trail: Trail,
  message: RoutedMessage,
  answers: readonly SubagentAnswer[],
  signal: StopSignal,
  run: Partial<Reply>,
): (reply: Reply) => Promise<readonly SendReport[]> {
  const home = addressOf(message);
  const resolveAll = async (): Promise<readonly Delivery[]> => {
    const found: Delivery[] = [];
    for (const answer of answers) {
      const delivery = await resolveDelivery(parts, trail.fork(), answer, home, signal);
      if (!found.some((one) => isDeepStrictEqual(one, delivery))) found.push(delivery);
    }
    return found;
  };
  let deliveries: Promise<readonly Delivery[]> | undefined;
  return async (reply) => {
    deliveries ??= resolveAll();
    const sends: SendReport[] = [];
    for (const delivery of await deliveries)
      sends.push(
        'to' in delivery
          ? await replyTo(parts, trail, message, { ...run, ...reply }, signal, delivery.to)
          : notSent(reply, delivery.refused),
      );
    return sends;
  };
}

async function resolveDelivery(
  { logger }: FencedParts,
  trail: Trail,
  answer: SubagentAnswer,
  home: ReplyAddress,
  signal: StopSignal,
): Promise<Delivery> {
  const { channel, accountId, to, threadId } = home;
  const requesterOrigin: Place = definedFields({ channel, accountId, to, threadId });
  const payload = { ...answer, requesterOrigin, expectsCompletionMessage: true };
  const refusedBy = (refused: Outcome): Delivery => {
    const { childSessionKey } = answer;
    const detail = whyNot(refused);
    logger.info('the answer of a subagent is not sent', { childSessionKey, detail });
    return { refused };
  };
  const resolving = await trail.dispatch('subagent.delivery.resolving', payload, { signal });
  if (resolving.status !== 'passed') return refusedBy(resolving);
  const { selection } = resolving;
  const target = { ...requesterOrigin, ...selection?.target };
  const resolved = await trail.dispatch('subagent.delivery.resolved', {
    ...payload,
    target,
    explicit: selection?.explicit === true,
    ...(selection !== undefined && {
      selectedBy: { extensionId: selection.extensionId, contributionId: selection.contributionId },
    }),
  });
  if (resolved.status !== 'passed') return refusedBy(resolved);
  return { to: isDeepStrictEqual(target, requesterOrigin) ? home : addressAt(target, home) };
}

/** Another place than that of the message: what is known of the message's conversation does not hold there. */
function addressAt(target: Place, { to: home, explicit }: ReplyAddress): ReplyAddress {
  const { to = home } = target;
  return { explicit, ...target, to, conversationId: to };
}

function notSent({ content }: Reply, refused: Outcome): SendReport {
  if (refused.status !== 'cancelled') return failedReport(content, whyNot(refused));
  return { content, attempts: 0, indexKeys: [], status: 'cancelled', cancel: refused.cancel };
}
