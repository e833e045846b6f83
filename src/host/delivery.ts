import { type Trail, whyNot } from '../agent/index.js';
import { type ApprovedMessage, approveSend, type DeliveryReceipt } from '../channel/index.js';
import { type CancelRecord, type Outcome, oneLine, type PayloadOf } from '../kernel/index.js';
import type { SendReport } from './message-end.js';
import type { HostParts } from './parts.js';
import { pause } from './pause.js';
import { attemptSend, mayResend } from './send-attempt.js';

/** A message that is to go out, before anybody has judged it. */
export type OutgoingMessage = Omit<
  PayloadOf<'egress.preparing'>,
  'accounts' | 'streaming' | 'attachments' | 'metadata'
> &
  Partial<Pick<PayloadOf<'egress.preparing'>, 'attachments' | 'metadata'>>;

type Prepared = Outcome<'egress.preparing'>;
type FailureCause = NonNullable<PayloadOf<'egress.failed'>['cause']>;

/** How a prepared send ended. Each becomes one terminal event. */
type End = { readonly attempts: number } & (
  | {
      readonly status: 'sent';
      readonly message: ApprovedMessage;
      readonly receipt: DeliveryReceipt;
    }
  | { readonly status: 'cancelled'; readonly cancel: CancelRecord }
  | {
      readonly status: 'failed';
      readonly cause: FailureCause;
      readonly error: string;
      readonly retryAfterMs?: number;
    }
);

/**
 * Takes a message out: `egress.preparing`, and if that passes `egress.sending` and the channel, under a permit;
 * then exactly one of `egress.sent`, `egress.cancelled` and `egress.failed`. Never rejects once
 * `egress.preparing` was dispatched.
 *
 * @param signal gives up waiting. A send that is under way then counts as failed: nobody knows its end.
 */
export async function deliver(
  parts: HostParts,
  trail: Trail,
  outgoing: OutgoingMessage,
  signal: AbortSignal,
): Promise<SendReport> {
  const accounts = parts.accounts.offered();
  const startedAtMs = parts.clock.now();
  const prepared = await trail.dispatch(
    'egress.preparing',
    { attachments: [], metadata: {}, ...outgoing, streaming: false, accounts },
    { signal, valid: (target) => isOffered(target, accounts) },
  );
  let end: End;
  let indexKeys: readonly string[] = [];
  try {
    end = await attemptAll(parts, trail, prepared, signal);
  } catch (error) {
    end = { status: 'failed', cause: 'threw', error: oneLine(error), attempts: 0 };
  }
  const durationMs = Math.max(0, parts.clock.now() - startedAtMs);
  try {
    indexKeys = (await tellEnd(parts, trail, prepared, end, durationMs)) ?? [];
  } catch (error) {
    parts.logger.error(
      `the end of send ${prepared.event.eventId} was not dispatched: ${oneLine(error)}`,
    );
  }
  return { ...reportOf(parts, prepared, end), indexKeys };
}

function isOffered(
  target: { readonly channel: string; readonly accountId: string },
  accounts: readonly { readonly channel: string; readonly accountId: string }[],
): true | string {
  return (
    accounts.some(
      ({ channel, accountId }) => channel === target.channel && accountId === target.accountId,
    ) || `no account "${target.accountId}" of channel "${target.channel}" is running`
  );
}

async function attemptAll(
  parts: HostParts,
  trail: Trail,
  prepared: Prepared,
  signal: AbortSignal,
): Promise<End> {
  if (prepared.status === 'cancelled')
    return { status: 'cancelled', cancel: prepared.cancel, attempts: 0 };
  if (prepared.status === 'failed') {
    const aborted = prepared.failures.some(
      ({ kind, policy }) => kind === 'aborted' && policy === 'closed',
    );
    return {
      status: 'failed',
      cause: aborted ? 'aborted' : 'stage-failed',
      error: whyNot(prepared),
      attempts: 0,
    };
  }
  const approval = approveSend(prepared);
  const { channel, accountId } = approval.message;
  const account = parts.accounts.find(channel, accountId);
  if (account === undefined) {
    const error = `no account "${accountId}" of channel "${channel}" is running`;
    return { status: 'failed', cause: 'stage-failed', error, attempts: 0 };
  }
  const { maxAttempts, maxWaitMs } = account.channel.resendPolicy;
  for (let waitedMs = 0; ; ) {
    const result = await attemptSend(parts, trail, account, approval, signal);
    const { attempts } = approval;
    const isLast = !(attempts < maxAttempts); // also where a channel's limit is no number
    const fail = (cause: FailureCause, error: string, retryAfterMs?: number): End => ({
      status: 'failed',
      cause,
      error,
      attempts,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
    switch (result.status) {
      case 'sent':
        return { status: 'sent', message: approval.message, receipt: result.receipt, attempts };
      case 'rejected':
        return fail('rejected', result.reason);
      case 'threw':
        return fail('threw', result.reason);
      case 'aborted':
        return fail('aborted', 'the host stopped before the channel answered');
      case 'retry-after': {
        const { retryAfterMs, reason = 'the provider asks to wait' } = result;
        waitedMs += retryAfterMs;
        if (isLast || !(waitedMs <= maxWaitMs)) return fail('retry-after', reason, retryAfterMs);
        if (!(await pause(parts.clock, retryAfterMs, signal)))
          return fail('aborted', reason, retryAfterMs);
        break;
      }
      case 'ambiguous':
        if (isLast || !(await mayResend(parts, account, approval, result.reason)))
          return fail('ambiguous', result.reason);
        break;
      default:
        result satisfies never; // nothing unknown is ever sent again
        return fail('threw', 'the channel gave an unknown answer');
    }
  }
}

/**
 * Dispatches the one terminal event of a prepared send.
 *
 * @returns the keys that handlers filed it under.
 */
async function tellEnd(
  parts: HostParts,
  trail: Trail,
  prepared: Prepared,
  end: End,
  durationMs: number,
): Promise<readonly string[] | undefined> {
  const { explicit: _explicit, accounts: _accounts, ...outbound } = prepared.payload;
  switch (end.status) {
    case 'sent': {
      const { message, receipt, attempts } = end;
      const payload = { ...message, attempt: attempts, durationMs };
      const sent = await trail.dispatch('egress.sent', withReceipt(parts, payload, receipt));
      return sent.annotations.indexKeys;
    }
    case 'cancelled': {
      const cancelled = await trail.dispatch('egress.cancelled', {
        ...outbound,
        cancel: { ...end.cancel },
      });
      return cancelled.annotations.indexKeys;
    }
    case 'failed': {
      const { status: _, ...failure } = end;
      const failed = await trail.dispatch('egress.failed', {
        ...outbound,
        ...prepared.selection?.target,
        ...failure,
        durationMs,
      });
      return failed.annotations.indexKeys;
    }
  }
}

/** A receipt comes from outside. What it says wrongly is left out: the message was sent all the same. */
function withReceipt(
  parts: HostParts,
  payload: Omit<PayloadOf<'egress.sent'>, 'receipt'>,
  receipt: DeliveryReceipt,
): PayloadOf<'egress.sent'> {
  try {
    return parts.kernel.parsePayload('egress.sent', { ...payload, receipt });
  } catch (error) {
    parts.logger.error(`channel "${payload.channel}" gave a wrong receipt: ${oneLine(error)}`);
    return { ...payload, receipt: {} };
  }
}

function reportOf(parts: HostParts, prepared: Prepared, end: End): Omit<SendReport, 'indexKeys'> {
  const { payload, selection } = prepared;
  const channel = selection?.target.channel ?? payload.channel;
  const accountId = selection?.target.accountId ?? payload.accountId;
  if (end.status === 'failed')
    parts.logger.error(`a message to ${payload.to} was not sent: ${end.error}`, {
      cause: end.cause,
      eventId: prepared.event.eventId,
    });
  if (prepared.status === 'cancelled')
    parts.logger.info(`a message to ${payload.to} ${whyNot(prepared)}`, {
      eventId: prepared.event.eventId,
    });
  return {
    status: end.status,
    content: payload.content,
    attempts: end.attempts,
    ...(channel !== undefined && { channel }),
    ...(accountId !== undefined && { accountId }),
    ...(end.status === 'sent' && { receipt: end.receipt }),
    ...(end.status === 'cancelled' && { cancel: end.cancel }),
    ...(end.status === 'failed' && { error: end.error }),
  };
}
