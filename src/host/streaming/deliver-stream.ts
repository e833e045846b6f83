import { Trail } from '@sluice/agent';
import { memoryJournal, type SendReport } from '@sluice/journal';
import { endOf } from '@sluice/journal/internal';
import type { ChannelPlugin } from '@sluice/sdk/channel';
import type { AgentProvider, AgentTrigger } from '@sluice/sdk/stream';
import { stopOf } from '@sluice/sdk/stream/internal';
import {
  type Clock,
  definedFields,
  type Kernel,
  type Logger,
  type Outcome,
  silentLogger,
  systemClock,
} from 'sluice-kernel/internal';
import { deliver } from '../egress/delivery.js';
import type { OutgoingMessage } from '../egress/prepare-send.js';
import { hostError } from '../errors.js';
import { Outbox } from '../outbox/outbox.js';
import type { ActiveStreams } from '../parts/active-streams.js';
import { callWithin } from '../parts/attempt.js';
import { type HostProgram, usualSendMs } from '../parts/options.js';
import { Accounts } from '../provided/accounts.js';
import { timelineRecorder } from '../timeline/timeline-recorder.js';
import { type Heard, hearStream, type StreamDelivery } from './hear-stream.js';
import { mayStream } from './may-stream.js';

/** An agent that is asked by a trigger: it keeps its own sessions. It has at least one of the two. */
export type TriggeredAgent = Pick<AgentProvider, 'trigger' | 'triggerStream'>;

/** The options of a streamed delivery. */
export interface DeliverStreamContext extends Pick<HostProgram, 'onAmbiguousSend'> {
  /** Milliseconds that one send may take before it counts as ambiguous; by default 60 000. */
  readonly sendTimeoutMs?: number;
  readonly kernel: Kernel;
  /** The question to the agent, and its place: the answer goes back there. */
  readonly trigger: AgentTrigger;
  /** Shared by all who stream into the same channels. */
  readonly streams: ActiveStreams;
  /** The fields of the message beyond its address and its text. */
  readonly message?: Partial<
    Omit<OutgoingMessage, 'content' | 'kind' | 'explicit' | 'channel' | 'accountId' | 'openedBy'>
  >;
  /** `stream` shows what the agent thinks, as a reply of its own; by default `off`. */
  readonly reasoning?: 'off' | 'stream';
  /** Asks the agent again after an error of a run that may have reached it; the agent may then do things twice. By default it does not. */
  readonly rerunAfterError?: boolean;
  /** The outcome before: its refs, correlation and annotations go on. */
  readonly after?: Outcome;
  /** Stops it: the agent is told, and what was shown is taken back. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  readonly logger?: Logger;
}

/** How a streamed delivery ended. */
export interface StreamedAnswer {
  readonly status: 'answered' | 'silent' | 'cancelled' | 'failed' | 'aborted';
  /** In one line, where it did not end well. */
  readonly reason?: string;
  /** Every prepared send, in order. Of a text that was shown in part and never became whole, too. */
  readonly sends: readonly SendReport[];
}

/**
 * Asks an agent, and delivers what it answers: shown while it grows where the channel can (`canStreamResponse` and
 * `createStreamSender`), the agent can (`triggerStream`), no handler has to see the whole first, and no other reply
 * grows in the conversation; whole (`trigger`) elsewhere. Each text passes `egress.preparing` (spec §14.6 to §14.10).
 *
 * If the stream ends with an error, the agent is asked again, by `trigger`, only if the run has not reached it.
 *
 * @throws SluiceError `no-trigger` where the agent has neither `trigger` nor `triggerStream`; what the kernel throws
 *   where it cannot dispatch.
 * @example
 * const streams = new ActiveStreams();
 * const { status } = await deliverStream(provider, channel, { kernel, trigger, streams });
 */
export async function deliverStream(
  provider: TriggeredAgent,
  channel: ChannelPlugin,
  context: DeliverStreamContext,
): Promise<StreamedAnswer> {
  if (provider.trigger === undefined && provider.triggerStream === undefined)
    throw hostError('no-trigger', { what: channel.id });
  const delivery = deliveryOf(channel, context);
  const { parts, message } = delivery;
  const canGrow =
    mayStream(parts, { ...message, kind: 'reply' }) && !parts.streams.isTaken(message);
  const ask = provider.triggerStream?.bind(provider);
  if (ask === undefined || (!canGrow && provider.trigger !== undefined))
    return answerOf(await askWhole(provider, delivery));
  const heard = await hearStream(ask, delivery, canGrow);
  const mayAskAgain = !heard.reachedAgent || context.rerunAfterError === true;
  if (heard.status !== 'failed' || provider.trigger === undefined || !mayAskAgain)
    return answerOf(heard);
  const again = await askWhole(provider, delivery);
  return answerOf({ ...again, all: [...heard.all, ...again.all] });
}

/** Asks for the whole answer, and sends its parts. */
async function askWhole(provider: TriggeredAgent, delivery: StreamDelivery): Promise<Heard> {
  const { parts, trail, message, trigger, signal } = delivery;
  const all: SendReport[] = [];
  const asked = await callWithin(
    async () => provider.trigger?.(trigger),
    parts.clock,
    undefined,
    signal,
  );
  const heard = (status: Heard['status'], reachedAgent: boolean, reason?: string): Heard => ({
    ...{ status, reachedAgent, all, answers: all },
    ...definedFields({ reason }),
  });
  if (asked.status === 'aborted' || signal.aborted) return heard('aborted', true);
  if (asked.status !== 'returned')
    return heard('failed', true, asked.status === 'threw' ? asked.reason : 'late');
  const answer = asked.value;
  if (answer?.status === 'failed') return heard('failed', answer.reachedAgent, answer.error);
  for (const content of answer?.parts ?? [])
    all.push(await deliver(parts, trail.fork(), { ...message, kind: 'reply', content }, signal));
  return heard('ended', answer !== undefined);
}

function answerOf({ status, reason, answers, all: sends }: Heard): StreamedAnswer {
  if (status === 'ended') return { ...(endOf(answers) as StreamedAnswer), sends }; // of sends it is one of these
  return { status, ...definedFields({ reason }), sends };
}

function deliveryOf(channel: ChannelPlugin, context: DeliverStreamContext): StreamDelivery {
  const { kernel, trigger, streams, after, reasoning = 'off' } = context;
  const { clock = systemClock, logger = silentLogger, onAmbiguousSend } = context;
  const { instanceId: accountId, chatId, threadId, messageId } = trigger.source;
  const accounts = new Accounts();
  accounts.add({ channel, accountId, startedMonotonicMs: clock.monotonicMs() });
  const signal = stopOf(trigger, context.signal);
  return {
    parts: {
      ...{ kernel, clock, logger, accounts, streams },
      outbox: new Outbox(memoryJournal({ clock, acknowledge: 'ended' }), logger),
      fence: { partition: 0, epoch: 0, signal },
      timeline: timelineRecorder({ clock, logger }),
      sendEnds: { sent: 0, cancelled: 0, failed: 0 },
      sendTimeoutMs: context.sendTimeoutMs ?? usualSendMs,
      ...definedFields({ onAmbiguousSend }),
    },
    trail: new Trail(kernel, after),
    trigger: { ...trigger, signal },
    message: {
      to: chatId,
      conversationId: chatId,
      replyToId: messageId,
      ...definedFields({ threadId }),
      ...context.message,
      explicit: true,
      channel: channel.id,
      accountId,
    },
    reasoning,
    signal,
  };
}
