import type { Trail } from '@sluice/agent';
import type { SendRecord } from '@sluice/journal';
import type { ChannelPreviews } from '@sluice/sdk/channel';
import { definedFields, type PayloadOf } from 'sluice-kernel/internal';
import type { Attempt } from '../egress/delivery.js';
import type { PreparedSend } from '../egress/prepare-send.js';
import { attemptSend } from '../egress/send-attempt.js';
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

/** Makes the attempt that makes a preview the final that it grew to, also where it is that already. */
export function completing(
  parts: FencedParts,
  trail: Trail,
  { outcome }: PreparedSend,
  { previews, shown }: PreviewPlace,
): Attempt {
  const noteShown = noteShownOf(parts, outcome);
  return (by, approval) =>
    attemptSend(parts, trail, by, approval, parts.signal, (permit) =>
      previews.complete(permit, { shown, noteShown }),
    );
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
export const left = {
  cause: 'ambiguous',
  error: 'it was being shown when the host ended',
} as const;

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
