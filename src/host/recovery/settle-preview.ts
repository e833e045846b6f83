import type { Trail } from '@sluice/agent';
import type { SendRecord } from '@sluice/journal';
import type { ChannelPreviews } from '@sluice/sdk/channel';
import { definedFields, type PayloadOf } from 'sluice-kernel/internal';
import { type Attempt, deliverPrepared } from '../egress/delivery.js';
import { endSend, failedSend } from '../egress/end-send.js';
import { type PreparedSend, prepareSend } from '../egress/prepare-send.js';
import { attemptSend } from '../egress/send-attempt.js';
import { finalIdOf } from '../outbox/outbox.js';
import { callWithin } from '../parts/attempt.js';
import type { FencedParts } from '../parts/parts.js';
import type { RunningAccount } from '../provided/accounts.js';
import { noteShownOf } from '../streaming/preview.js';

/** A preview that is shown somewhere, and who can end it. */
interface PreviewPlace {
  readonly account: RunningAccount;
  readonly previews: ChannelPreviews;
  /** As its stream sender has noted it. */
  readonly shown: unknown;
}

/** The note of a stream's sender about a send; nothing if it has made none, or where the send went on without its preview. */
export function shownOf({ shown }: SendRecord): unknown {
  return shown === undefined ? undefined : (JSON.parse(shown) ?? undefined); // as the outbox wrote it
}

/** Finds what a send has shown, if its channel can say what became of that. */
export function previewOf({ accounts }: FencedParts, record: SendRecord): PreviewPlace | undefined {
  const account = accounts.find(record.channel ?? '', record.accountId ?? '');
  const previews = account?.channel.previews;
  const shown = shownOf(record);
  return account && previews && shown !== undefined ? { account, previews, shown } : undefined;
}

/**
 * Ends a streamed send whose preview a host before this one has left (spec durability §7.2). One that still grew is taken
 * back: nothing of it is out then, and its message is handled again. The preview of a final becomes that final, also where
 * it is it already.
 *
 * @returns whether it has ended.
 */
export async function settlePreview(
  parts: FencedParts,
  trail: Trail,
  record: SendRecord,
  emitted: Emitted,
  { account, previews, shown }: PreviewPlace,
): Promise<boolean> {
  const { signal } = parts;
  const { state, attempts } = record;
  const takeBack = () => takeBackPreview(parts, record, { account, previews, shown });

  const { openedBy } = emitted;
  if (openedBy === undefined) {
    const isGone = await takeBack();
    if (signal.aborted && !isGone) return false; // the next host tries
    await giveUp(parts, trail, record, emitted, isGone ? takenBack : left);
    return true;
  }

  const again = { streaming: false, signal, again: finalIdOf(openedBy) };
  const prepared = await prepareSend(parts, trail, { ...emitted }, again);
  const otherwise = whyNotAgain(prepared, account);
  if (otherwise === undefined) {
    const noteShown = noteShownOf(parts, prepared.outcome);
    const complete: Attempt = (by, approval) =>
      attemptSend(parts, trail, by, approval, signal, (permit) =>
        previews.complete(permit, { shown, noteShown }),
      );
    await deliverPrepared(parts, trail, prepared, signal, complete);
  } else if ((await takeBack()) || state === 'prepared')
    await deliverPrepared(parts, trail, prepared, signal);
  else {
    const error = `${left.error}, and is not completed: ${otherwise}`;
    await endSend(parts, trail, prepared, failedSend('ambiguous', error, attempts));
  }
  return true;
}

/**
 * Takes back what a send has shown, unless another host has its partition by now: that one may have completed it (durability §12.3). Never
 * rejects.
 *
 * @returns whether nothing of it is shown any more.
 */
export async function takeBackPreview(
  parts: FencedParts,
  { sendId }: SendRecord,
  { account, previews, shown }: PreviewPlace,
): Promise<boolean> {
  const { clock, sendTimeoutMs, signal, logger, outbox } = parts;
  if (!(await outbox.mayTakeBack(parts, sendId))) return false;
  const call = () => previews.takeBack(shown, account.accountId);
  const end = await callWithin(call, clock, sendTimeoutMs, signal);
  const isGone = end.status === 'returned' && end.value === true;
  if (!isGone) logger.warn('what a send has shown could not be taken back', { sendId });
  return isGone;
}

/** Nothing of it is out. */
export const takenBack = {
  cause: 'aborted',
  error: 'the host ended while it grew; what was shown of it was taken back',
} as const;
const left = { cause: 'ambiguous', error: 'it was being shown when the host ended' } as const;

/** A send as it was emitted: what the journal keeps of it. */
export type Emitted = Omit<PayloadOf<'egress.preparing'>, 'accounts'>;

/** A message that was perhaps sent goes out again by the same account or not at all: no other knows its idempotency key. */
export function whyNotAgain(
  { outcome, cancel }: PreparedSend,
  account: RunningAccount | undefined,
): string | undefined {
  if (cancel !== undefined) return `egress.preparing cancelled it: ${cancel.code}`;
  if (outcome.status !== 'passed') return `egress.preparing ${outcome.status} it`;
  const { channel, accountId } = { ...outcome.payload, ...outcome.selection?.target };
  if (account?.channel.id === channel && account?.accountId === accountId) return undefined;
  return 'another account was chosen for it';
}

/** Ends a send as failed, without judging it again. */
export async function giveUp(
  parts: FencedParts,
  trail: Trail,
  { sendId, attempts, channel, accountId }: SendRecord,
  emitted: Emitted,
  end: { readonly cause: 'ambiguous' | 'aborted'; readonly error: string },
): Promise<void> {
  const { explicit: _, ...outbound } = emitted;
  const { error } = end;
  parts.sendEnds.failed++;
  await parts.journal.endSend(parts.fence, sendId, {
    state: 'failed',
    cause: end.cause,
    reason: error,
  });
  parts.logger.error('a send that was left open counts as failed', {
    sendId,
    code: end.cause,
    detail: error,
  });
  try {
    await trail.dispatch('egress.failed', {
      ...outbound,
      ...definedFields({ channel, accountId }),
      ...end,
      attempts,
      durationMs: 0, // of the send, as this host knows it
    });
  } catch (thrown) {
    parts.logger.error('the end of a send was not dispatched', { sendId, error: thrown });
  }
}
