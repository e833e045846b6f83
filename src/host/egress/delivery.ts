import type { Trail } from '@sluice/agent';
import type { SendReport } from '@sluice/journal';
import { approveSend, type SendApproval } from '@sluice/sdk/channel';
import { definedFields, oneLine, pause, type StopSignal } from 'sluice-kernel/internal';
import type { SendParts } from '../parts/parts.js';
import type { RunningAccount } from '../provided/accounts.js';
import {
  deferredSend,
  endOfShown,
  endOfUnpassed,
  endSend,
  type FailureCause,
  failedSend,
  type SendEnd,
  suspendedSend,
  type TakenBack,
} from './end-send.js';
import { type OutgoingMessage, type PreparedSend, prepareSend } from './prepare-send.js';
import { type AttemptResult, attemptSend, mayResend } from './send-attempt.js';

/** Makes an attempt in another way than by the channel's `send`. */
export type Attempt = (account: RunningAccount, approval: SendApproval) => Promise<AttemptResult>;

/**
 * Takes a message out: `egress.preparing`, and if that passes `egress.sending` and the channel, under a permit;
 * then exactly one of `egress.sent`, `egress.cancelled` and `egress.failed`. Never rejects once
 * `egress.preparing` was dispatched.
 *
 * @param signal gives up waiting. A send that is under way then counts as failed: nobody knows its end.
 * @param eventId the id that it is judged under, instead of the next of its message.
 */
export async function deliver(
  parts: SendParts,
  trail: Trail,
  outgoing: OutgoingMessage,
  signal: StopSignal,
  eventId?: string,
): Promise<SendReport> {
  const how = { streaming: false, signal, goesOut: true, ...definedFields({ eventId }) };
  const prepared = await prepareSend(parts, trail, outgoing, how);
  return deliverPrepared(parts, trail, prepared, signal);
}

/**
 * Takes a prepared message to its end. Never rejects.
 *
 * @param first makes the first attempt in another way than by the channel's `send`.
 * @param beforeEnd takes back what is shown of it and does not stay: once its end is persisted, nobody looks for that.
 */
export async function deliverPrepared(
  parts: SendParts,
  trail: Trail,
  prepared: PreparedSend,
  signal: StopSignal,
  first?: Attempt,
  beforeEnd?: () => Promise<TakenBack>,
): Promise<SendReport> {
  let end: SendEnd;
  try {
    end = endOfUnpassed(prepared) ?? (await attemptAll(parts, trail, prepared, signal, first));
  } catch (error) {
    end = failedSend('threw', oneLine(error));
  }
  const shown = await beforeEnd?.();
  if (end.status !== 'sent' && (shown === 'left' || isDeferredSend(parts, prepared, end)))
    return deferredSend(prepared);
  return endSend(parts, trail, prepared, endOfShown(end, shown));
}

/**
 * Returns whether a send stays open in the journal: one that answers nothing is left to the next host, and one of a suspended message is
 * settled before that is claimed again, if it may be out. Any other one that answers is said again with its message.
 */
function isDeferredSend(
  { outbox, suspension }: SendParts,
  { outcome, mayBeOut = false }: PreparedSend,
  end: SendEnd,
): boolean {
  const isDoubtful = end.status === 'failed' && end.isDeferred === false && end.cause === 'aborted';
  if (suspension?.isSuspended && isDoubtful) return true;
  const isDeferred =
    end.status === 'failed' && (end.isDeferred === true || (mayBeOut && end.cause === 'aborted'));
  return isDeferred && outcome.payload.kind === 'unprompted' && outbox.mayDefer;
}

/**
 * Keeps that a send goes to its channel: whoever finds it after a restart must not have to guess whether the channel ever
 * had it. The final of a stream that goes by `send` leaves what was shown: that says nothing of where it is any more.
 */
async function persistSending(
  parts: SendParts,
  outcome: PreparedSend['outcome'],
  isBySend: boolean,
): Promise<string | undefined> {
  const leavesPreview = isBySend && outcome.event.payload.openedBy !== undefined;
  const unpersisted = await Promise.all([
    leavesPreview ? parts.outbox.noteShown(parts, outcome, null) : undefined,
    parts.outbox.sending(parts, outcome),
  ]);
  return unpersisted.find((one) => one !== undefined);
}

async function attemptAll(
  parts: SendParts,
  trail: Trail,
  { outcome, isSending, mayBeOut: mayBeOutBefore = false }: PreparedSend,
  signal: StopSignal,
  first: Attempt | undefined,
): Promise<SendEnd> {
  const approval = approveSend(outcome, parts.kernel, parts.accounts.capabilitiesOf);
  const { channel, accountId } = approval.message;
  const send: Attempt = (account) => attemptSend(parts, trail, account, approval, signal);
  let attempt = first ?? send;
  let notShown = 0;
  let mayBeOut = mayBeOutBefore; // by an attempt before
  let isPersisted = isSending;
  let isWithChannel = isSending; // as the journal has it
  for (let waitedMs = 0; ; ) {
    const account = parts.accounts.find(channel, accountId); // while a send waits, a reload may replace its channel
    if (account === undefined) {
      const error = `no account "${accountId}" of channel "${channel}" is running`;
      return failedSend('stage-failed', error, approval.attempts);
    }
    const { maxAttempts, maxWaitMs } = account.channel.resendPolicy;
    const unsaved =
      isPersisted || signal.aborted
        ? undefined
        : await persistSending(parts, outcome, attempt === send);
    const persisting = unsaved === undefined ? parts.turnPersisted?.() : undefined;
    const unpersisted = persisting === undefined ? unsaved : await persisting; // as a rule it was, by the same write
    isPersisted = false;
    isWithChannel ||= !signal.aborted;
    if (parts.suspension?.isSuspended) return suspendedSend(approval.attempts, mayBeOut);
    if (unpersisted !== undefined)
      return failedSend(mayBeOut ? 'ambiguous' : 'stage-failed', unpersisted, approval.attempts);
    const result = await attempt(account, approval);
    attempt = send;
    const { attempts } = approval;
    const isLast = !(attempts - notShown < maxAttempts); // also where a channel's limit is no number
    const fail = (cause: FailureCause, error: string) => failedSend(cause, error, attempts);
    switch (result.status) {
      case 'sent':
        return { status: 'sent', message: approval.message, receipt: result.receipt, attempts };
      case 'rejected':
        return fail('rejected', result.reason);
      case 'threw':
        return fail('threw', result.reason);
      case 'aborted': {
        const end = fail('aborted', 'the host stopped before the channel answered');
        const isDeferred = result.isUnused === true && !mayBeOut;
        if (isDeferred && isWithChannel) await parts.outbox.unsent(parts, outcome);
        return { ...end, isDeferred };
      }
      case 'not-shown': // nothing of it is out: it goes by `send`, and that is its first attempt
        notShown = attempts;
        break;
      case 'retry-after': {
        const { retryAfterMs, reason = 'the provider asks to wait' } = result;
        waitedMs += retryAfterMs;
        if (isLast || !(waitedMs <= maxWaitMs))
          return { ...fail('retry-after', reason), retryAfterMs };
        isWithChannel = false;
        await parts.outbox.unsent(parts, outcome); // if the host ends while it waits, everybody knows that nothing is out
        if (!(await pause(parts.clock, retryAfterMs, signal)))
          return { ...fail('aborted', reason), retryAfterMs, isDeferred: !mayBeOut };
        break;
      }
      case 'ambiguous':
        if (isLast || !(await mayResend(parts, account, approval, result.reason)))
          return fail('ambiguous', result.reason);
        mayBeOut = true;
        break;
      default:
        result satisfies never; // nothing unknown is ever sent again
        return fail('threw', 'the channel gave an unknown answer');
    }
  }
}
