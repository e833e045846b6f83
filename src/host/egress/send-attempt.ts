import type { Trail } from '@sluice/agent';
import type { SendApproval, SendContext, SendPermit, SendResult } from '@sluice/sdk/channel';
import { oneLine, type StopSignal } from 'sluice-kernel/internal';
import { type CallEnd, callWithin } from '../parts/attempt.js';
import type { SendParts } from '../parts/parts.js';
import type { RunningAccount } from '../provided/accounts.js';

/** How one attempt went: what the channel answered, or that it did not. */
export type AttemptResult =
  | SendResult
  | { readonly status: 'threw'; readonly reason: string }
  /** A stream's sender has not taken its permit: nothing of the message is out. */
  | { readonly status: 'not-shown' }
  /** `isUnused`: nobody has taken its permit, so nothing is out by this attempt. */
  | { readonly status: 'aborted'; readonly isUnused?: boolean };

/**
 * One attempt to send, under a permit of its own.
 *
 * @param send the method of the channel to call; by default its `send`.
 */
export async function attemptSend(
  parts: SendParts,
  trail: Trail,
  account: RunningAccount,
  approval: SendApproval,
  signal: StopSignal,
  send: (permit: SendPermit, context: SendContext) => Promise<SendResult> = (permit, context) =>
    account.channel.send(permit, context),
): Promise<AttemptResult> {
  if (signal.aborted) return { status: 'aborted', isUnused: true };
  const permit = approval.mintPermit();
  const reported = reportSending(trail, approval, permit, signal);
  if (reported !== true && !(await reported)) return { status: 'aborted', isUnused: true };
  const { clock, sendTimeoutMs } = parts;
  const sinceMs = clock.monotonicMs();
  const waiting = new AbortController();
  const context = new AttemptContext(waiting, trail.last?.event.correlationId);
  const end = await callWithin(() => send(permit, context), clock, sendTimeoutMs, signal);
  if (end.status === 'late' || end.status === 'aborted') waiting.abort();
  const result = resultOf(end, sendTimeoutMs);
  parts.timeline.record(() => ({
    ...{ kind: 'attempt', id: `${approval.idempotencyKey}#${permit.attempt}` },
    ...{ parentId: approval.idempotencyKey, correlationId: trail.correlationId ?? '' },
    ...{ channel: account.channel.id, accountId: account.accountId, attempt: permit.attempt },
    status: result.status,
    ...('reason' in result && { reason: oneLine(result.reason) }),
    durationMs: clock.monotonicMs() - sinceMs,
  }));
  if (permit.used) return result;
  permit.take(); // so that a channel that answered too early cannot send now
  if (result.status === 'aborted') return { ...result, isUnused: true };
  if (result.status !== 'sent') return result;
  return {
    status: 'threw',
    reason: `channel "${account.channel.id}" says sent, and took no message from its permit`,
  };
}

/** Node makes the signal when it is read first. A literal with a getter would be dear (test/bench/NOTES.md). */
class AttemptContext implements SendContext {
  readonly #waiting: AbortController;
  readonly correlationId?: string;

  constructor(waiting: AbortController, correlationId: string | undefined) {
    this.#waiting = waiting;
    if (correlationId !== undefined) this.correlationId = correlationId;
  }

  get signal(): AbortSignal {
    return this.#waiting.signal;
  }
}

/**
 * Tells that a permit is about to be handed to a channel.
 *
 * @returns whether it may be: the signal has not aborted meanwhile. The permit is used up where it may not.
 */
export function reportSending(
  trail: Trail,
  { message }: SendApproval,
  permit: SendPermit,
  signal: StopSignal,
): Promise<boolean> | boolean {
  const isStillWanted = (): boolean => {
    if (!signal.aborted) return true;
    permit.take(); // §14.4: nobody can send with it any more
    return false;
  };
  const telling = trail.tell('egress.sending', () => ({ attempt: permit.attempt, ...message }));
  return telling === undefined ? isStillWanted() : telling.then(isStillWanted);
}

/** Reads the answer of a channel. It comes from outside the types: a value that is no answer is an end that nobody knows. */
export function answerOf(result: unknown): AttemptResult {
  if (typeof result !== 'object' || result === null)
    return { status: 'threw', reason: 'the channel answered nothing' };
  const answer = result as SendResult; // read by its status, which is looked at first
  switch (answer.status) {
    case 'sent':
    case 'rejected':
    case 'ambiguous':
      return answer;
    case 'retry-after':
      return Number.isFinite(answer.retryAfterMs) && answer.retryAfterMs >= 0
        ? answer
        : { status: 'threw', reason: 'the channel asks to wait, and does not say how long' };
    default: {
      const { status } = result as { readonly status?: unknown };
      return {
        status: 'threw',
        reason: `the channel answered "${String(status)}", which is no answer`,
      };
    }
  }
}

/** Says what the end of a call that sends means; its silence, too. */
export function resultOf(
  end: CallEnd<SendResult>,
  timeoutMs: number,
  who = 'channel',
): AttemptResult {
  if (end.status === 'returned') return answerOf(end.value);
  if (end.status !== 'late') return end;
  return { status: 'ambiguous', reason: `the ${who} did not answer within ${timeoutMs} ms` };
}

/** Returns whether an ambiguous send may go out again: as its channel declares, never blindly. */
export async function mayResend(
  parts: SendParts,
  { channel, accountId }: RunningAccount,
  approval: Pick<SendApproval, 'idempotencyKey' | 'attempts'>,
  reason: string,
): Promise<boolean> {
  const policy = channel.resendPolicy.ambiguous;
  if (policy === 'resend') return channel.capabilities.deduplicatesSends === true;
  const { onAmbiguousSend } = parts;
  if (policy === 'fail' || onAmbiguousSend === undefined) return false;
  const { idempotencyKey, attempts } = approval;
  const asked = { channel: channel.id, accountId, idempotencyKey, attempt: attempts, reason };
  try {
    return (await onAmbiguousSend(asked)) === 'resend';
  } catch (error) {
    parts.logger.error('onAmbiguousSend threw, so nothing is sent again', { error });
    return false;
  }
}
