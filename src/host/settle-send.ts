import { Trail } from '../agent/index.js';
import type { PayloadOf } from '../kernel/index.js';
import type { RunningAccount } from './accounts.js';
import { deliverPrepared } from './delivery.js';
import { endSend } from './end-send.js';
import type { SendRecord } from './journal/journal.js';
import type { KeepingParts } from './kept-updates.js';
import { finalIdOf } from './outbox.js';
import { type PreparedSend, prepareSend } from './prepare-send.js';
import { refOf } from './refs.js';
import { mayResend } from './send-attempt.js';

type Emitted = Omit<PayloadOf<'egress.preparing'>, 'accounts'>;

/**
 * Brings a send that a host before this one has left open to its end (spec durability §7.2). One that was prepared goes
 * out. Of one that its channel had, nobody knows the end: the channel's declared policy decides. Whatever goes out is
 * judged once more by `egress.preparing`, under the id that it had, which is its idempotency key.
 *
 * @returns whether it has ended; not where its account does not run.
 * @throws what the journal throws.
 */
export async function settleSend(parts: KeepingParts, record: SendRecord): Promise<boolean> {
  const { sendId, state, channel = '', accountId = '', correlationId, attempts } = record;
  if (parts.signal.aborted) return false;
  const emitted = JSON.parse(record.body) as Emitted; // as the outbox wrote it
  const trail = new Trail(parts.kernel, undefined, {
    ...(correlationId !== undefined && { correlationId }),
    ...(channel !== '' && accountId !== '' && { accountRef: refOf(channel, accountId) }),
  });
  const { openedBy } = emitted;
  const isShown = state === 'sending' && openedBy !== undefined; // what it shows is no second send of its key
  if (emitted.streaming || isShown) {
    await giveUp(parts, trail, record, emitted, 'it was being shown when the host ended');
    return true;
  }
  const account = parts.accounts.find(channel, accountId);
  if (account === undefined && (channel !== '' || accountId !== '')) {
    parts.logger.warn('a send waits for its account, which does not run', {
      sendId,
      channel,
      accountId,
    });
    return false;
  }
  const wasSending = state === 'sending';
  const why = 'the host ended before its channel had answered';
  if (wasSending) {
    const asked = { idempotencyKey: sendId, attempts };
    if (account === undefined || !(await mayResend(parts, account, asked, why))) {
      await giveUp(parts, trail, record, emitted, why);
      return true;
    }
  }
  const id = openedBy === undefined ? sendId : finalIdOf(openedBy);
  const again = { streaming: false, signal: parts.signal, again: id };
  const prepared = await prepareSend(parts, trail, { ...emitted }, again);
  const otherwise = wasSending ? whyNotAgain(prepared, account) : undefined;
  if (otherwise === undefined) await deliverPrepared(parts, trail, prepared, parts.signal);
  else {
    const error = `${why}, and it is not sent again: ${otherwise}`;
    await endSend(parts, trail, prepared, {
      status: 'failed',
      cause: 'ambiguous',
      error,
      attempts,
    });
  }
  return true;
}

/** What was perhaps sent goes out again by the same account or not at all: no other knows its idempotency key. */
function whyNotAgain(
  { outcome }: PreparedSend,
  account: RunningAccount | undefined,
): string | undefined {
  if (outcome.status !== 'passed') return `egress.preparing ${outcome.status} it`;
  const { channel, accountId } = { ...outcome.payload, ...outcome.selection?.target };
  if (account?.channel.id === channel && account?.accountId === accountId) return undefined;
  return 'another account was chosen for it';
}

/** Ends a send of which nobody knows whether it is out, without judging it again. */
async function giveUp(
  parts: KeepingParts,
  trail: Trail,
  { sendId, attempts, channel, accountId }: SendRecord,
  emitted: Emitted,
  error: string,
): Promise<void> {
  const { explicit: _, ...outbound } = emitted;
  const end = { cause: 'ambiguous', error } as const;
  await parts.journal.endSend(sendId, { state: 'failed', cause: end.cause, reason: error });
  parts.logger.error('a send counts as failed: nobody knows whether it is out', {
    sendId,
    code: end.cause,
    detail: error,
  });
  try {
    await trail.dispatch('egress.failed', {
      ...outbound,
      ...(channel !== undefined && { channel }),
      ...(accountId !== undefined && { accountId }),
      ...end,
      attempts,
      durationMs: 0, // of the send, as this host knows it
    });
  } catch (thrown) {
    parts.logger.error('the end of a send was not dispatched', { sendId, error: thrown });
  }
}
