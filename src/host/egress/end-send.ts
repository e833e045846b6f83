import { type Trail, whyNot } from '@sluice/agent';
import type { SendEndRecord, SendReport } from '@sluice/journal';
import { leftBehind, problemOfText } from '@sluice/journal/internal';
import type { ApprovedMessage, DeliveryReceipt } from '@sluice/sdk/channel';
import {
  type CancelRecord,
  definedFields,
  type Outcome,
  oneLine,
  type PayloadOf,
} from 'sluice-kernel/internal';
import type { SendParts } from '../parts/parts.js';
import type { PreparedSend } from './prepare-send.js';
import { reportSend } from './prepare-send.js';

/** Why a send failed. */
export type FailureCause = NonNullable<PayloadOf<'egress.failed'>['cause']>;

/** How a prepared send ended. Each becomes one terminal event. */
export type SendEnd = { readonly attempts: number } & (
  | {
      readonly status: 'sent';
      readonly message: ApprovedMessage;
      readonly receipt: DeliveryReceipt;
    }
  | {
      readonly status: 'cancelled';
      readonly cancel: Pick<CancelRecord, 'code'> & Partial<CancelRecord>;
    }
  | {
      readonly status: 'failed';
      readonly cause: FailureCause;
      readonly error: string;
      readonly retryAfterMs?: number;
      /** The host has stopped, and nothing of it is out: the next host may say it. */
      readonly isDeferred?: boolean;
    }
);

/**
 * Ends a prepared send: keeps its end, dispatches its one terminal event (spec §14.2), and says how it
 * ended. Never rejects.
 */
export async function endSend(
  parts: SendParts,
  trail: Trail,
  prepared: PreparedSend,
  end: SendEnd,
): Promise<SendReport> {
  const { outcome, startedAtMs } = prepared;
  parts.sendEnds[end.status]++;
  const isHeard = parts.kernel.plan(`egress.${end.status}`).length > 0;
  const how = { isHeard, isDoubtful: prepared.unpersisted !== undefined };
  const record = recordOf(end, prepared);
  const persisting = parts.outbox.end(parts, outcome, record, how);
  if (persisting !== undefined) await persisting;
  const { state, cause, reason } = record;
  reportSend(parts, outcome, {
    state,
    attempts: end.attempts,
    ...definedFields({ cause, reason }),
  });
  const durationMs = Math.max(0, parts.clock.now() - startedAtMs);
  let indexKeys: readonly string[] = [];
  try {
    const telling = reportEnd(parts, trail, prepared, end, durationMs);
    const told = telling === undefined ? trail.last : await telling;
    indexKeys = told?.annotations.indexKeys ?? [];
  } catch (error) {
    parts.logger.error('the end of a send was not dispatched', {
      eventId: outcome.event.eventId,
      error,
    });
  }
  return { indexKeys, ...reportOf(parts, prepared, end) };
}

/** Tells of a send whose row stays open in the journal. */
export function deferredSend({ outcome }: PreparedSend): SendReport {
  const { content } = outcome.payload;
  const error = 'the host stopped before it was sent: the next host sends it';
  return { ...failedReport(content, error), isLeft: true };
}

/** Tells of a send that was not made, because its message is suspended. */
export function suspendedReport({ content }: { readonly content: string }): SendReport {
  return { ...failedReport(content, suspendedSend().error), isLeft: true };
}

/** The report of a send that failed. */
export function failedReport(content: string, error: string, attempts = 0): SendReport {
  return { status: 'failed', content, attempts, error, indexKeys: [] };
}

/** The end of a send that failed. */
export function failedSend(cause: FailureCause, error: string, attempts = 0) {
  return { status: 'failed', cause, error, attempts } as const;
}

/**
 * The end of a send whose message is suspended: it is said when the message is claimed again. @param mayBeOut an attempt before may have
 * sent it: then it stays open in the journal, and is settled as after a restart.
 */
export function suspendedSend(attempts = 0, mayBeOut = false) {
  const failed = failedSend('aborted', 'its message is suspended', attempts);
  return { ...failed, isDeferred: !mayBeOut };
}

/**
 * The fate of a preview: it is gone, or may be on the screen still, or is left in the journal, with its send, to the next who claims
 * the message (durability §6.13).
 */
export type TakenBack = 'gone' | 'may-stay' | 'left';

/** The end of a send whose preview was taken back: if that may have failed, nobody can say that nothing of it is out. */
export function endOfShown(end: SendEnd, shown: TakenBack | undefined): SendEnd {
  const saysNone = end.status === 'failed' && (end.isDeferred === true || end.cause === 'aborted');
  if (!saysNone || shown !== 'may-stay') return end;
  return failedSend('ambiguous', 'what is shown of it could not be taken back', end.attempts);
}

/** Returns how a send ended that `egress.preparing` stopped; nothing if it passed. */
export function endOfUnpassed({
  outcome,
  cancel,
  unpersisted,
  isSuspended = false,
}: PreparedSend): SendEnd | undefined {
  if (unpersisted !== undefined)
    return isSuspended ? suspendedSend() : failedSend('stage-failed', unpersisted);
  if (cancel !== undefined) return { status: 'cancelled', cancel, attempts: 0 };
  if (outcome.status === 'passed') return undefined;
  const aborted = outcome.failures.some(
    ({ kind, policy }) => kind === 'aborted' && policy === 'closed',
  );
  return failedSend(aborted ? 'aborted' : 'stage-failed', whyNot(outcome));
}

/** @returns the outcome, with the keys that handlers filed it under; nothing if nobody hears of it. */
function reportEnd(
  parts: SendParts,
  trail: Trail,
  { outcome }: PreparedSend,
  end: SendEnd,
  durationMs: number,
): Promise<Outcome> | undefined {
  if (end.status === 'sent') {
    const { message, receipt, attempts } = end;
    const sent = () => withReceipt(parts, { attempt: attempts, durationMs, ...message }, receipt);
    const checked = isUsual(receipt) ? undefined : sent(); // a fault of it is told, whoever hears of the send
    return trail.tell('egress.sent', () => checked ?? sent());
  }
  const { explicit: _explicit, accounts: _accounts, ...outbound } = outcome.payload;
  if (end.status === 'cancelled') {
    const cancel = { ...end.cancel };
    return trail.dispatch('egress.cancelled', { ...outbound, cancel });
  }
  const { status: _, isDeferred: _left, ...failure } = end;
  return trail.dispatch('egress.failed', {
    ...outbound,
    ...outcome.selection?.target,
    ...failure,
    durationMs,
  });
}

/** A receipt has the id of a message alone, or nothing: no fault is in it. */
function isUsual(receipt: DeliveryReceipt): boolean {
  return Object.entries(Object(receipt)).every(
    ([key, value]) => key === 'messageId' && typeof value === 'string',
  );
}

/** A receipt comes from outside. What it says wrongly is left out: the message was sent all the same. */
function withReceipt(
  parts: SendParts,
  payload: Omit<PayloadOf<'egress.sent'>, 'receipt'>,
  receipt: DeliveryReceipt,
): PayloadOf<'egress.sent'> {
  try {
    return parts.kernel.parsePayload('egress.sent', { receipt, ...payload });
  } catch (error) {
    parts.logger.error(`channel "${payload.channel}" gave a wrong receipt`, { error });
    return { receipt: {}, ...payload };
  }
}

function reportOf(
  parts: SendParts,
  { outcome }: PreparedSend,
  end: SendEnd,
): Omit<SendReport, 'indexKeys'> {
  const { payload, selection, event } = outcome;
  const channel = selection?.target.channel ?? payload.channel;
  const accountId = selection?.target.accountId ?? payload.accountId;
  const { eventId } = event;
  if (end.status === 'failed')
    parts.logger[end.isDeferred === true ? 'info' : 'error']('a message was not sent', {
      detail: end.error,
      cause: end.cause,
      eventId,
    });
  if (outcome.status === 'cancelled') {
    const { extensionId, contributionId, code } = outcome.cancel;
    const who = { extensionId, contributionId, code };
    parts.logger.info('a message was cancelled at egress.preparing', { eventId, ...who });
  }
  return {
    status: end.status,
    content: payload.content,
    attempts: end.attempts,
    ...definedFields({ channel, accountId }),
    ...(end.status === 'sent' && { receipt: end.receipt }),
    ...(end.status === 'cancelled' && { cancel: end.cancel }),
    ...(end.status === 'failed' && {
      error: end.error,
      ...(end.isDeferred === true && { isLeft: true }),
    }),
  };
}

/** The end as the journal keeps it. */
function recordOf(end: SendEnd, { isSending }: PreparedSend): SendEndRecord {
  switch (end.status) {
    case 'sent': {
      const { messageIds, messageId = messageIds?.join(',') } = end.receipt;
      // from outside: an id that cannot be persisted is left out (durability §6.7)
      const isPersisted = typeof messageId === 'string' && problemOfText(messageId) === undefined;
      return { state: 'sent', ...(isPersisted && { providerMessageId: messageId }) };
    }
    case 'cancelled': {
      const { code, extensionId, contributionId } = end.cancel;
      const by = extensionId === undefined ? {} : { reason: `${extensionId}/${contributionId}` };
      return { state: 'cancelled', cause: code, ...by };
    }
    case 'failed': {
      const { isDeferred = isSending && end.cause === 'aborted' && end.attempts === 0 } = end; // the journal has counted one, and nothing was given
      const cause = isDeferred ? leftBehind : end.cause;
      return { state: 'failed', cause, reason: oneLine(end.error) };
    }
  }
}
